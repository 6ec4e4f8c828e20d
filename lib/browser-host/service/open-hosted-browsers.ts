import type { Database } from "#db/client.ts";
import type { ReachedBrowsers } from "#lib/browser/create-browser-service.ts";
import { expireLost } from "#lib/browser/create-browser-service.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import type { TestPlace } from "#lib/sandbox/sandbox-service.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import type { PageTools } from "#lib/tools/browser/page-tools.ts";
import type { VariantPages } from "#lib/variant/variant-pages.ts";
import { type BrowserHostsDeps, createBrowserHosts } from "./browser-hosts.ts";
import { createHostRelay, type HostRelay } from "./host-relay.ts";
import { createReachedBrowsers } from "./reached-browsers.ts";
import { createRemotePageTools, createRemoteVariantPages } from "./remote-pages.ts";
import { openRemoteTests } from "./remote-tests.ts";

/** The browsers that a process of the service uses, and the work on their pages. */
export type OpenedBrowsers = {
  browsers: ReachedBrowsers;
  pages: PageTools;
  variantPages: VariantPages;
  /** Opens the place of a leased test run at a host on another machine. */
  openTestPlace: (hostId: string, leaseId: string) => TestPlace;
  /** Relays links of other processes to hosts. Undefined in a process that has no hosts. */
  relay: HostRelay | undefined;
  /** Ends the use of the browsers. If `isFinal`, those on this machine end, unless another process uses them. */
  close: (isFinal: boolean) => Promise<void>;
};

export type OpenBrowsersDeps = Omit<BrowserHostsDeps, "onHostEnded"> & {
  db: Database;
  bus: Pick<EventBus, "subscribe">;
  /** The functions of this process that a script of a call can call. */
  scriptHelpers: HostServices["scriptHelpers"];
  describeScripts: PageTools["describeScripts"];
  describeBrowser: () => { available: boolean; detail: string };
};

/** Opens browsers at browser hosts. Connects to the hosts that run already; a first one is started when it is needed. */
export async function openHostedBrowsers(deps: OpenBrowsersDeps): Promise<OpenedBrowsers> {
  const { logger, control, db, bus, scriptHelpers, describeScripts } = deps;
  const recordLost = () =>
    void expireLost(deps).catch((error: unknown) =>
      logger.warn({ err: error }, "the end of lost browsers was not recorded"),
    );
  const hosts = createBrowserHosts({ ...deps, onHostEnded: recordLost });
  await hosts.connectKnown();
  const running = hosts.list().length;
  if (running > 0) logger.info({ hosts: running }, "connected to browser hosts that ran already");
  recordLost();
  return {
    browsers: createReachedBrowsers({ hosts, db, bus, logger, control, describe: deps.describeBrowser }),
    pages: createRemotePageTools({
      hosts,
      scriptHelpers,
      describeScripts: () => hosts.list()[0]?.info.scripts ?? describeScripts(),
    }),
    variantPages: createRemoteVariantPages(hosts),
    openTestPlace: (hostId, leaseId) => openRemoteTests(hosts, hostId, leaseId),
    relay: createHostRelay({ ...deps, key: deps.relay.key }),
    async close(isFinal) {
      if (!isFinal && hosts.countLive() > 0)
        logger.info({ lingerMs: deps.local?.lingerMs }, "browsers stay for the next process of the service");
      await hosts.close(isFinal);
    },
  };
}
