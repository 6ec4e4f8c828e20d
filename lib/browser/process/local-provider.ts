import { NOBODY, openSandboxUsers } from "#lib/isolation/sandbox-users.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { BrowserEgress, BrowserProxy } from "./browser-egress.ts";
import type { BrowserProcess, BrowserProvider, ChromiumUse } from "./browser-provider.ts";
import { connectPlaywright, createContexts } from "./connect-playwright.ts";
import { type PageLimits, watchPageLimits } from "./page-limits.ts";
import { isStartTimeout, type StartedChromium, type StartOptions, startChromium } from "./start-chromium.ts";
import { composeIdentity, type VisitorIdentity } from "./visitor-identity.ts";

const START_TIMEOUT_MS = 20_000;
/** A proxy that accepts no connection, for a browser that opens no page. */
const NO_PROXY = "http://127.0.0.1:9";

/** A way to run Chromium; `warning` is logged when no safer way works. */
type Confinement = { isOtherUser: boolean; sandbox: boolean; warning?: string };

const OWN_SANDBOX_OFF = "Chromium's own sandbox does not work on this system: its processes run without it";

/**
 * Lists the ways to run Chromium, safest first. Chromium's own sandbox does not work as root, so a service that runs as
 * root starts Chromium as another user if possible.
 */
function confinements(): Confinement[] {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) {
    return [
      { isOtherUser: false, sandbox: true },
      { isOtherUser: false, sandbox: false, warning: OWN_SANDBOX_OFF },
    ];
  }
  return [
    { isOtherUser: true, sandbox: true },
    { isOtherUser: true, sandbox: false, warning: OWN_SANDBOX_OFF },
    {
      isOtherUser: false,
      sandbox: false,
      warning:
        "Chromium cannot be run by another user (is its folder readable to all?): it runs as root without its own sandbox",
    },
  ];
}

/**
 * Starts browsers on this machine. Each start creates a Chromium and a proxy, which is Chromium's only route to the
 * network. The first start finds the safest confinement that works on this machine; later starts reuse it.
 */
export function createLocalProvider(deps: {
  launch: { executablePath: string; args?: string[]; env?: Record<string, string> };
  folder: string;
  egress: BrowserEgress;
  limits: PageLimits;
  logger: Logger;
  /** Whether pages may see that the browsers are automated (`BROWSER_WEBDRIVER`). */
  webdriver: boolean;
}): BrowserProvider {
  const { launch, folder, egress, limits, logger, webdriver } = deps;
  let identity: Promise<VisitorIdentity> | undefined;
  let ways = confinements();
  let hasWorked = false;

  /** Starts a browser as a separate user. The user is released when the browser's processes and profile are gone. */
  async function startAsOther(base: Omit<StartOptions, "account">): Promise<StartedChromium> {
    const users = await openSandboxUsers();
    const user = users?.assign();
    let isHeld = user !== undefined;
    const release = () => {
      if (user && isHeld) users?.release(user);
      isHeld = false;
    };
    try {
      const started = await startChromium({ ...base, account: user ?? NOBODY });
      return { ...started, kill: () => started.kill().finally(release) };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Starts a browser in the safest way that works on this machine. */
  async function startWithFallbacks(
    base: Omit<StartOptions, "account" | "sandbox">,
  ): Promise<StartedChromium> {
    const candidates = ways;
    let firstError: unknown;
    for (const [index, way] of candidates.entries()) {
      try {
        const { isOtherUser, sandbox } = way;
        const started = isOtherUser
          ? await startAsOther({ ...base, sandbox })
          : await startChromium({ ...base, sandbox, account: undefined });
        if (!hasWorked && way.warning) logger.warn({ reason: String(firstError) }, way.warning);
        if (!hasWorked) ways = candidates.slice(index, index + 1);
        hasWorked = true;
        return started;
      } catch (error) {
        firstError ??= error;
        // Weaker confinements are not tried after a timeout, because the machine may just be slow.
        if (isStartTimeout(error)) break;
      }
    }
    throw firstError;
  }

  const base = {
    executablePath: launch.executablePath,
    args: launch.args ?? [],
    env: launch.env ?? {},
    folder,
    timeoutMs: START_TIMEOUT_MS,
  };

  /** Starts a browser, asks it how it introduces itself, and ends it. */
  async function findIdentity(): Promise<VisitorIdentity> {
    const { devtools, kill } = await startWithFallbacks({ ...base, proxyServer: NO_PROXY });
    try {
      const connection = await devtools.open(START_TIMEOUT_MS, { onEvent() {}, onClose() {} });
      return composeIdentity(await connection.ask("Browser.getVersion", {}));
    } finally {
      await kill();
    }
  }

  /** Reads the identity once. After a failure, the next start tries again. */
  async function readIdentity(): Promise<VisitorIdentity | undefined> {
    if (webdriver) return undefined;
    identity ??= findIdentity().catch((error: unknown) => {
      identity = undefined;
      throw error;
    });
    return identity;
  }

  async function connect(
    started: StartedChromium,
    proxy: BrowserProxy,
    use: ChromiumUse,
  ): Promise<BrowserProcess> {
    const kill = async () => {
      await Promise.allSettled([started.kill(), proxy.close()]);
    };
    void started.exited.then(kill);
    const { devtools, pid, exited } = started;
    try {
      const connected = await connectPlaywright(devtools);
      const { explainCrash } = watchPageLimits({ devtools, exited, use, limits, logger });
      return {
        ...connected,
        devtools,
        pid,
        // The whole browser uses the proxy.
        newContext: createContexts(connected.browser, undefined).open,
        isGuarded: true,
        acceptsKey: proxy.ownKeyHash !== undefined,
        exited,
        findRefusal: proxy.findRefusal,
        nameSession: proxy.nameSession,
        holdRequests: proxy.holdRequests,
        explainCrash,
        kill,
      };
    } catch (error) {
      await kill();
      throw error;
    }
  }

  return {
    readIdentity,
    async start(use) {
      const ownIdentity = await readIdentity();
      const proxy = await egress.startProxy({ acceptsKey: true });
      try {
        const started = await startWithFallbacks({
          ...base,
          identity: ownIdentity,
          proxyServer: proxy.server,
          ownKeyHash: proxy.ownKeyHash,
        });
        return await connect(started, proxy, use);
      } catch (error) {
        await proxy.close();
        throw error;
      }
    },
    describe() {
      const way = ways[0];
      const sandbox = !hasWorked ? "" : way?.sandbox ? ", sandboxed" : ", without its own sandbox";
      return { available: true, detail: `Chromium at ${launch.executablePath}${sandbox}` };
    },
  };
}
