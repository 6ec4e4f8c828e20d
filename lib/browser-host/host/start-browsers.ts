import { randomUUID } from "node:crypto";
import type { HostBrowsers, HostPlaces } from "#lib/browser/browser-service.ts";
import { createHostBrowsers } from "#lib/browser/create-host-browsers.ts";
import type { MachineSettings } from "#lib/browser/host/host-parts.ts";
import type { HandoverPages, HostControl } from "#lib/browser/view/host-control.ts";
import type { NewEvidence } from "#lib/evidence/evidence.ts";
import type { Logger } from "#lib/log/logger.ts";
import { createAddressRule } from "#lib/net/address/address-rule.ts";
import { type Downloads, storeDownload } from "#lib/sandbox/store-download.ts";
import { createPictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { createPageTools } from "#lib/tools/browser/create-page-tools.ts";
import { createHandoverPages } from "#lib/tools/browser/handover/handover-pages.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import type { PageTools } from "#lib/tools/browser/page-tools.ts";
import { createPageTurns } from "#lib/tools/browser/page-turns.ts";
import { createPageRecorder } from "#lib/tools/browser/picture/page-recorder.ts";
import { createSnapshotBook } from "#lib/tools/browser/read/snapshot-book.ts";
import { createVariantPages } from "#lib/variant/create-variant-pages.ts";
import { createVariantView } from "#lib/variant/show-for-picture.ts";
import type { VariantPages } from "#lib/variant/variant-pages.ts";
import type { HostSettings } from "../host-calls.ts";
import type { AttachedServices } from "./attached-services.ts";
import type { ServiceOrigins } from "./service-origins.ts";

/** The browsers of a host, and the work on their pages. */
export type StartedBrowsers = {
  browsers: HostBrowsers & HostPlaces;
  pages: PageTools;
  variants: VariantPages;
  handoverPages: HandoverPages;
};

/** What the browsers of a host need. What they store goes to the connected processes. */
export type StartDeps = MachineSettings &
  Pick<HostServices, "scripts" | "scriptHelpers"> & {
    control: HostControl;
    logger: Logger;
    services: Pick<AttachedServices, "ask" | "tell" | "records">;
    origins: ServiceOrigins;
    /** Returns the origin from which published scripts are served now. */
    scriptOrigin: () => string;
  };

/** Creates the browsers and the work on their pages, with the settings of the first process. */
export async function startBrowsers(deps: StartDeps, settings: HostSettings): Promise<StartedBrowsers> {
  const { services, origins, launch, dataDir, maxLive, logger } = deps;
  const { allow, idleMs, waitMs, keepSpare, webdriver } = settings;
  const browsers = await createHostBrowsers({
    records: services.records,
    control: deps.control,
    logger,
    launch,
    dataDir,
    maxLive,
    contextsPerProcess: deps.contextsPerProcess,
    pageLimits: deps.pageLimits,
    rule: createAddressRule({ allow: [...allow] }),
    ownOrigin: origins.list,
    idleMs,
    waitMs,
    keepSpare,
    webdriver,
    onRequestRefused: (refusal) => services.tell("noteRefusal", refusal),
    onAnnotation: (sessionId, body) =>
      services.ask("submitAnnotation", { sessionId, body, key: randomUUID() }),
    readPageScript: (sessionId) => services.ask("readPageScript", { sessionId }),
    storeDownload: (sessionId, name, bytes) => storeDownload(downloadsOf(services, sessionId), name, bytes),
  });
  const evidence = {
    save: (picture: NewEvidence) => services.ask("saveEvidence", { ...picture, key: randomUUID() }),
  };
  const recorder = createPageRecorder({
    browser: browsers,
    keepRecorded: services.records.keepRecorded,
    control: deps.control,
    logger,
  });
  const pages = createPageTools({
    browser: browsers,
    control: deps.control,
    pageTurns: createPageTurns(),
    scripts: deps.scripts,
    snapshots: createSnapshotBook(),
    recorder,
    evidence,
    files: (sessionId) => ({
      read: (path, bytesMax) => services.ask("readFile", { sessionId, path, bytesMax }),
      async write(path, bytes) {
        await services.ask("writeFile", { sessionId, path, bytes });
      },
    }),
    scriptHelpers: deps.scriptHelpers,
    variants: createVariantView({
      readRevision: (sessionId, variant) => services.ask("readRevision", { sessionId, variant }),
      readShown: (sessionId) => services.ask("readShown", { sessionId }),
    }),
  });
  const variants = createVariantPages({
    browser: browsers,
    evidence,
    recorder,
    control: deps.control,
    compare: createPictureComparer(),
    scriptOrigin: deps.scriptOrigin,
  });
  return { browsers, pages, variants, handoverPages: createHandoverPages(browsers) };
}

const downloadsOf = ({ ask }: Pick<AttachedServices, "ask">, sessionId: string): Downloads => ({
  choosePath: (name) => ask("chooseDownloadPath", { sessionId, name }),
  store: (path, bytes) => ask("storeDownload", { sessionId, path, bytes }),
});
