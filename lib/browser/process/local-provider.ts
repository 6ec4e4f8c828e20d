import type { Logger } from "#lib/log/logger.ts";
import type { BrowserEgress } from "./browser-egress.ts";
import type { BrowserProvider } from "./browser-provider.ts";
import type { Account } from "./profile-folder.ts";
import { isStartTimeout, type StartedChromium, type StartOptions, startChromium } from "./start-chromium.ts";

const NOBODY: Account = { uid: 65534, gid: 65534 };
const START_TIMEOUT_MS = 20_000;

/** A way to run Chromium; `warning` is logged when no safer way works. */
type Confinement = { account: Account | undefined; sandbox: boolean; warning?: string };

const OWN_SANDBOX_OFF = "Chromium's own sandbox does not work on this system: its processes run without it";

/** The ways from the safest to the least safe. Started by root, Chromium has to run as another user for its sandbox to work. */
function confinements(): Confinement[] {
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) {
    return [
      { account: undefined, sandbox: true },
      { account: undefined, sandbox: false, warning: OWN_SANDBOX_OFF },
    ];
  }
  return [
    { account: NOBODY, sandbox: true },
    { account: NOBODY, sandbox: false, warning: OWN_SANDBOX_OFF },
    {
      account: undefined,
      sandbox: false,
      warning:
        "Chromium cannot be run by another user (is its folder readable to all?): it runs as root without its own sandbox",
    },
  ];
}

/**
 * Browsers of this machine: each call starts one Chromium with a proxy of its own, which is its only way to the network.
 * The first start finds the safest way that works on this machine; later starts use it.
 */
export function createLocalProvider(deps: {
  launch: { executablePath: string; args?: string[]; env?: Record<string, string> };
  folder: string;
  egress: BrowserEgress;
  logger: Logger;
}): BrowserProvider {
  const { launch, folder, egress, logger } = deps;
  let ways = confinements();
  let hasWorked = false;

  async function startSomehow(base: Omit<StartOptions, "account" | "sandbox">): Promise<StartedChromium> {
    const tried = ways;
    let firstError: unknown;
    for (const [index, way] of tried.entries()) {
      try {
        const started = await startChromium({ ...base, account: way.account, sandbox: way.sandbox });
        if (!hasWorked && way.warning) logger.warn({ reason: String(firstError) }, way.warning);
        if (!hasWorked) ways = tried.slice(index, index + 1);
        hasWorked = true;
        return started;
      } catch (error) {
        firstError ??= error;
        // A timeout may be due to a slow machine, which is no reason to give up the sandbox.
        if (isStartTimeout(error)) break;
      }
    }
    throw firstError;
  }

  return {
    async start() {
      const proxy = await egress.startProxy({ acceptsKey: true });
      try {
        const started = await startSomehow({
          executablePath: launch.executablePath,
          args: launch.args ?? [],
          env: launch.env ?? {},
          folder,
          proxyServer: proxy.server,
          ownKeyHash: proxy.ownKeyHash,
          timeoutMs: START_TIMEOUT_MS,
        });
        const allowPort = egress.denyPort(Number(new URL(started.devtoolsUrl).port));
        const kill = async () => {
          await Promise.allSettled([started.kill(), proxy.close()]);
          allowPort();
        };
        void started.exited.then(kill);
        return {
          devtoolsUrl: started.devtoolsUrl,
          pid: started.pid,
          contextProxy: undefined,
          isGuarded: true,
          exited: started.exited,
          findRefusal: proxy.findRefusal,
          nameSession: proxy.nameSession,
          kill,
        };
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
