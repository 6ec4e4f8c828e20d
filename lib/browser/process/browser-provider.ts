import type { HoldRequests } from "./browser-egress.ts";
import type { Devtools } from "./devtools-connection.ts";
import type { VisitorIdentity } from "./visitor-identity.ts";

/** A running Chromium, local or remote. */
export type BrowserProcess = {
  devtools: Devtools;
  /** Process id of the browser. Undefined if the service did not start the browser. */
  pid: number | undefined;
  /**
   * URL of the service's proxy, to set for each context. Undefined if the browser process itself uses the proxy, or if
   * the browser is on another machine and cannot reach the proxy.
   */
  contextProxy: string | undefined;
  /** Whether all requests of the browser's pages go through the service's proxy. If not, only documents are checked. */
  isGuarded: boolean;
  /**
   * Resolves when a local browser's process has ended, for any reason. For a remote browser, resolves when `kill` is
   * called.
   */
  exited: Promise<void>;
  /**
   * Returns the latest reason why the proxy refused or did not reach the host and port of this URL. Undefined if no
   * such reason is stored.
   */
  findRefusal: (url: URL) => string | undefined;
  /** Sets the session that uses the browser. Reports of refused requests name this session. */
  nameSession: (sessionId: string) => void;
  /** Sets a function that the browser's requests to a host wait for. Has no effect if no proxy sees the requests. */
  holdRequests: (hold: HoldRequests) => void;
  /**
   * Ends a local browser with all its processes and removes its files. For a remote browser, only stops the service's
   * proxy. Never rejects.
   */
  kill: () => Promise<void>;
};

/** Starts browsers: on this machine, or at a remote DevTools endpoint. */
export type BrowserProvider = {
  /** @throws Error with a readable message when no browser can be started. */
  start: () => Promise<BrowserProcess>;
  /**
   * Returns how the browsers introduce themselves to pages. Undefined if they do so as Chromium does by itself.
   * @throws Error with a readable message when no browser can be started.
   */
  readIdentity: () => Promise<VisitorIdentity | undefined>;
  /** Describes the provider for the startup banner and the health check. */
  describe: () => { available: boolean; detail: string };
};
