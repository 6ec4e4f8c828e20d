import type { Devtools } from "./devtools-connection.ts";

/** A running Chromium, local or remote. */
export type BrowserProcess = {
  devtools: Devtools;
  /** Process id of the browser process, if it runs on this machine. */
  pid: number | undefined;
  /** Proxy to set for each context, if the process itself has none. */
  contextProxy: string | undefined;
  /** Whether every request of its pages goes through the service's proxy; if not, each document is checked. */
  isGuarded: boolean;
  /** Resolves once the process has ended, for any reason. */
  exited: Promise<void>;
  /** The latest reason why the proxy did not reach this URL's host, if there was one. */
  findRefusal: (url: URL) => string | undefined;
  /** Names the session that uses it from now on, for reports of refused requests. */
  nameSession: (sessionId: string) => void;
  /** Ends it with all its processes and removes its files. Never rejects. */
  kill: () => Promise<void>;
};

/** Where browsers come from: this machine, or a DevTools endpoint elsewhere. */
export type BrowserProvider = {
  /** @throws Error with a sentence when no browser can be started. */
  start: () => Promise<BrowserProcess>;
  /** For the banner and the health check. */
  describe: () => { available: boolean; detail: string };
};
