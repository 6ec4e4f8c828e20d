/** A running Chromium, ours or another's. */
export type BrowserProcess = {
  /** WebSocket or HTTP URL of its DevTools endpoint. */
  devtoolsUrl: string;
  /** Process id of the browser process, where it runs on this machine. */
  pid: number | undefined;
  /** Proxy that its pages must be given one by one, where the process itself is not bound to one. */
  contextProxy: string | undefined;
  /** Whether every request of its pages goes through our proxy; if not, documents at least are checked one by one. */
  isGuarded: boolean;
  /** Resolves once the process is gone, for whatever reason. */
  exited: Promise<void>;
  /** The latest reason why the proxy did not reach this URL's host, if there was one. */
  findRefusal: (url: URL) => string | undefined;
  /** Ends it with all its processes and removes what it kept. Never rejects. */
  kill: () => Promise<void>;
};

/** Where browsers come from: this machine, or a DevTools endpoint elsewhere. */
export type BrowserProvider = {
  /** @throws Error with a sentence when none can be had. */
  start: () => Promise<BrowserProcess>;
  /** What it is, for the banner and the health check. */
  describe: () => { available: boolean; detail: string };
};
