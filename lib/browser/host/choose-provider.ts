import type { BrowserEgress } from "../process/browser-egress.ts";
import type { BrowserProvider } from "../process/browser-provider.ts";
import { createLocalProvider } from "../process/local-provider.ts";
import { PAGE_LIMITS } from "../process/page-limits.ts";
import { createRemoteProvider, describeRemote } from "../process/remote-provider.ts";
import { shareChromium } from "../process/share-chromium.ts";
import type { HostBrowsersDeps } from "./host-parts.ts";

/** How a host gets browsers. `hasRoom`: whether a Chromium of this owner has room for another session. */
type ChosenProvider = BrowserProvider & { hasRoom: (owner: string | undefined) => boolean };

/** Creates the provider that the settings choose. @param folder where browsers have their profiles. */
export function chooseProvider(
  deps: HostBrowsersDeps,
  folder: string,
  egress: BrowserEgress,
): ChosenProvider {
  const { launch, logger, contextsPerProcess: max = 1, webdriver = true } = deps;
  const hasRoom = () => false;
  if (launch.cdpUrl !== undefined)
    return { ...createRemoteProvider({ cdpUrl: launch.cdpUrl, egress, logger }), hasRoom };
  const { executablePath, args = [], env = {} } = launch;
  if (executablePath === undefined) {
    const described = describeLaunch(launch);
    const fail = () => Promise.reject(new Error(described.detail));
    return { start: fail, readIdentity: fail, describe: () => described, hasRoom };
  }
  const limits = { ...PAGE_LIMITS, ...deps.pageLimits };
  const provider = createLocalProvider({
    launch: { executablePath, args, env },
    folder,
    egress,
    limits,
    logger,
    webdriver,
  });
  return max > 1 ? shareChromium({ provider, egress, max, logger }) : { ...provider, hasRoom };
}

/** Describes which Chromium the settings choose, before it was tried. */
export function describeLaunch({ cdpUrl, executablePath }: HostBrowsersDeps["launch"]): {
  available: boolean;
  detail: string;
} {
  if (cdpUrl !== undefined) return { available: true, detail: describeRemote(cdpUrl) };
  if (executablePath !== undefined) return { available: true, detail: `Chromium at ${executablePath}` };
  return {
    available: false,
    detail: "no Chromium was found: set BROWSER_EXECUTABLE_PATH or BROWSER_CDP_URL",
  };
}
