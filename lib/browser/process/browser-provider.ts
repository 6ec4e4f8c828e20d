import type { Devtools } from "./devtools-connection.ts";

/** A running Chromium, local or remote. */
export type BrowserProcess = {
  devtools: Devtools;
  /** Process id of the browser process, if it runs on this machine. */
  pid: number | undefined;
  /** URL of the proxy to set for each context; undefined if the browser process already uses one, or needs none. */
  contextProxy: string | undefined;
  /** Whether all requests of the browser's pages go through the service's proxy. If not, only documents are checked. */
  isGuarded: boolean;
  /** Resolves once the process has ended, for any reason. */
  exited: Promise<void>;
  /** Returns why the proxy last refused or did not reach the host of this URL; undefined if neither happened. */
  findRefusal: (url: URL) => string | undefined;
  /** Sets the session that uses the browser, for reports of refused requests. */
  nameSession: (sessionId: string) => void;
  /** Ends the browser with all its processes and removes its files. Never rejects. */
  kill: () => Promise<void>;
};

/** Starts browsers: on this machine, or at a remote DevTools endpoint. */
export type BrowserProvider = {
  /** @throws Error with a readable message when no browser can be started. */
  start: () => Promise<BrowserProcess>;
  /** Describes the provider for the startup banner and the health check. */
  describe: () => { available: boolean; detail: string };
};
