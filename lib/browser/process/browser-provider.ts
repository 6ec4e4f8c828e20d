import type { Browser, BrowserContext, BrowserContextOptions } from "playwright";
import type { HoldRequests } from "./browser-egress.ts";
import type { Devtools } from "./devtools-connection.ts";
import type { VisitorIdentity } from "./visitor-identity.ts";

/** The sessions that use a Chromium. */
export type ChromiumUse = {
  /**
   * Opaque key of the sessions' owner. Sessions share a Chromium only if they have the same key. Undefined if they share
   * none, and for a spare browser until a session takes it.
   */
  owner: string | undefined;
  /** Number of sessions that use a shared Chromium, or start to use it. 0 if the Chromium is not shared. */
  sessions: number;
};

/** A running Chromium, local or remote, as one session uses it. Other sessions of the owner may use it, too. */
export type BrowserProcess = {
  devtools: Devtools;
  /** Playwright's connection. All sessions that use the Chromium have the same one. */
  browser: Browser;
  /** Process id of the browser. Undefined if the service did not start the browser. */
  pid: number | undefined;
  /**
   * Creates a context. Its requests go through the service's proxy, if the browser can reach the proxy, and the browser
   * writes no downloads to disk. @throws Error when the browser has ended.
   */
  newContext: (options: BrowserContextOptions) => Promise<BrowserContext>;
  /** Whether all requests of the browser's pages go through the service's proxy. If not, only documents are checked. */
  isGuarded: boolean;
  /** Whether the browser accepts the key that the proxies use for our own https origins. */
  acceptsKey: boolean;
  /**
   * Resolves when a local browser's process has ended, for any reason. For a remote browser, and for a Chromium that
   * other sessions use, resolves when `kill` is called.
   */
  exited: Promise<void>;
  /** Resolves with the first unexpected error of the service while it handled a message of the browser. */
  faulted: Promise<unknown>;
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
   * Returns why the service has ended a page whose crash the browser reports now: the page took too much. Undefined if the
   * page has crashed by itself.
   */
  explainCrash: () => string | undefined;
  /**
   * Ends a local browser with all its processes and removes its files. If other sessions use the Chromium, closes only
   * the contexts of this session and its proxy. Disconnects from a remote browser. Never rejects.
   */
  kill: () => Promise<void>;
};

/** Starts browsers: on this machine, or at a remote DevTools endpoint. */
export type BrowserProvider = {
  /** @throws Error with a readable message when no browser can be started. */
  start: (use: ChromiumUse) => Promise<BrowserProcess>;
  /**
   * Returns how the browsers introduce themselves to pages. Undefined if they do so as Chromium does by itself.
   * @throws Error with a readable message when no browser can be started.
   */
  readIdentity: () => Promise<VisitorIdentity | undefined>;
  /** Describes the provider for the startup banner and the health check. */
  describe: () => { available: boolean; detail: string };
};
