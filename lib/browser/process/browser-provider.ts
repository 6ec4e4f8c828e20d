import type { Devtools } from "./devtools-connection.ts";

/** A running Chromium, local or remote. */
export type BrowserProcess = {
  devtools: Devtools;
  /** Process id of the browser process, if it runs on this machine. */
  pid: number | undefined;
  /** URL of the proxy to set for each context; undefined if the process already uses one, or none. */
  contextProxy: string | undefined;
  /** Whether every request of its pages goes through the service's proxy; if not, only documents are checked. */
  isGuarded: boolean;
  /** Resolves once the process has ended, for any reason. */
  exited: Promise<void>;
  /** Returns the latest reason why the proxy refused or did not reach this URL's host, if there was one. */
  findRefusal: (url: URL) => string | undefined;
  /** Sets the session that uses the browser, for reports of refused requests. */
  nameSession: (sessionId: string) => void;
  /** Ends the browser with all its processes and removes its files. Never rejects. */
  kill: () => Promise<void>;
};

/** Starts browsers: on this machine, or at a remote DevTools endpoint. */
export type BrowserProvider = {
  /** @throws Error with a sentence when no browser can be started. */
  start: () => Promise<BrowserProcess>;
  /** Describes the provider for the startup banner and the health check. */
  describe: () => { available: boolean; detail: string };
};
