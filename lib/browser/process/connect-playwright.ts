import type { Browser, BrowserContext, BrowserContextOptions } from "playwright";
import type { BrowserProcess } from "./browser-provider.ts";
import type { Devtools } from "./devtools-connection.ts";

const CONNECT_TIMEOUT_MS = 15_000;

/** Connects Playwright to a browser. @throws Error if the browser does not answer in time. */
export async function connectPlaywright(
  devtools: Devtools,
): Promise<Pick<BrowserProcess, "browser" | "faulted">> {
  // Playwright is imported when the first browser starts, because the import takes a tenth of the service's start time.
  const { chromium } = await import("playwright");
  // Playwright never uses this path. Without it, Playwright would create a temporary folder, which would stay behind if
  // the service were killed.
  const options = { timeout: CONNECT_TIMEOUT_MS, artifactsDir: "/nonexistent" };
  const browser = await chromium.connectOverCDP(devtools.playwright, options);
  const faulted = Promise.withResolvers<unknown>();
  devtools.onError = faulted.resolve;
  return { browser, faulted: faulted.promise };
}

/** The contexts of one session. */
type SessionContexts = {
  open: BrowserProcess["newContext"];
  /** Closes the contexts, also those that are being created. @throws Error if one cannot be closed. */
  closeAll: () => Promise<void>;
};

/**
 * Creates contexts in a browser, with the options that all contexts of the service's browsers have in common.
 *
 * @param proxyServer URL of the proxy that all requests of the contexts go through. Undefined if the browser itself uses
 * a proxy, or cannot reach one.
 */
export function createContexts(browser: Browser, proxyServer: string | undefined): SessionContexts {
  const opened = new Set<Promise<BrowserContext>>();
  let isClosed = false;
  const common: BrowserContextOptions = {
    // The browser itself saves no downloads. If the service allows downloads, it reads their bytes over DevTools.
    acceptDownloads: false,
    ...(proxyServer === undefined ? {} : { proxy: { server: proxyServer, bypass: "<-loopback>" } }),
  };
  /** Forgets a context that was closed or could not be created. */
  const prune = async (context: Promise<BrowserContext>) => {
    const created = await context.catch(() => undefined);
    if (!created || !browser.contexts().includes(created)) opened.delete(context);
  };
  return {
    async open(options) {
      if (isClosed) throw new Error("the browser is closing");
      for (const each of opened) void prune(each);
      const context = browser.newContext({ ...options, ...common });
      opened.add(context);
      return context;
    },
    async closeAll() {
      isClosed = true;
      const contexts = await Promise.all([...opened].map((each) => each.catch(() => undefined)));
      await Promise.all(contexts.map((context) => context?.close()));
    },
  };
}
