import type { Logger } from "#lib/log/logger.ts";
import { errorText } from "#lib/text/error-text.ts";
import type { BrowserEgress, BrowserProxy } from "./browser-egress.ts";
import type { BrowserProvider } from "./browser-provider.ts";
import { connectPlaywright, createContexts } from "./connect-playwright.ts";
import { openDevtoolsAt } from "./devtools-socket.ts";

/**
 * Connects to browsers at a DevTools endpoint (`BROWSER_CDP_URL`).
 *
 * A browser on this machine uses the service's proxy. Such a browser cannot open our own https origins: the service did
 * not start it with the flag that makes it accept the proxy's certificate.
 *
 * A browser on another machine cannot reach the proxy, so the service checks only the browser's requests for documents.
 * Such a browser opens the allowed paths of our own origins directly.
 */
export function createRemoteProvider(deps: {
  cdpUrl: string;
  egress: BrowserEgress;
  logger: Logger;
}): BrowserProvider {
  const { cdpUrl, egress, logger } = deps;
  const host = new URL(cdpUrl).hostname;
  const isOnThisMachine = /^(127\.|localhost$|\[::1\]$)/.test(host);
  let hasWarned = false;

  return {
    async start() {
      if (!isOnThisMachine && !hasWarned) {
        hasWarned = true;
        logger.warn(
          { host },
          "the remote browser does not go through our proxy: only its documents are checked",
        );
      }
      const devtoolsUrl = await findDevtoolsUrl(cdpUrl);
      const proxy: BrowserProxy | undefined = isOnThisMachine
        ? await egress.startProxy({ acceptsKey: false })
        : undefined;
      const allowPort = isOnThisMachine ? egress.denyPort(Number(new URL(cdpUrl).port)) : () => {};
      const release = async () => {
        await proxy?.close();
        allowPort();
      };
      try {
        const devtools = await openDevtoolsAt(devtoolsUrl).catch((error: unknown) => {
          throw new Error(`the remote browser at ${host} could not be connected to: ${errorText(error)}`);
        });
        const connected = await connectPlaywright(devtools).catch((error: unknown) => {
          devtools.playwright.close();
          throw error;
        });
        const exited = Promise.withResolvers<void>();
        return {
          ...connected,
          devtools,
          pid: undefined,
          newContext: createContexts(connected.browser, proxy?.server).open,
          isGuarded: isOnThisMachine,
          acceptsKey: false,
          exited: exited.promise,
          findRefusal: (url) => proxy?.findRefusal(url),
          nameSession: (sessionId) => proxy?.nameSession(sessionId),
          holdRequests: (hold) => proxy?.holdRequests(hold),
          explainCrash: () => undefined,
          async kill() {
            // Discards the contexts of the connection; the browser keeps running.
            await connected.browser.close().catch(() => {});
            devtools.playwright.close();
            await release();
            exited.resolve();
          },
        };
      } catch (error) {
        await release();
        throw error;
      }
    },
    // Its provider decides.
    readIdentity: async () => undefined,
    describe: () => ({ available: true, detail: describeRemote(cdpUrl) }),
  };
}

/** Describes the browsers at a DevTools endpoint, and what they cannot do. */
export const describeRemote = (cdpUrl: string): string =>
  `remote browser at ${URL.parse(cdpUrl)?.host ?? "an invalid URL"}; when it ends, only cookies survive`;

/**
 * Returns the WebSocket URL of an http(s) or ws(s) endpoint. @throws Error when an http(s) endpoint gives no such URL.
 */
async function findDevtoolsUrl(cdpUrl: string): Promise<string> {
  if (/^wss?:/.test(cdpUrl)) return cdpUrl;
  try {
    const response = await fetch(new URL("/json/version", cdpUrl), { signal: AbortSignal.timeout(10_000) });
    const version: unknown = await response.json();
    const isNamed = typeof version === "object" && version !== null && "webSocketDebuggerUrl" in version;
    if (isNamed && typeof version.webSocketDebuggerUrl === "string") return version.webSocketDebuggerUrl;
    throw new Error("its answer has no webSocketDebuggerUrl");
  } catch (error) {
    throw new Error(`the remote browser at ${new URL(cdpUrl).host} did not answer: ${errorText(error)}`);
  }
}
