import { randomUUID } from "node:crypto";
import type { HostBrowsers } from "#lib/browser/browser-service.ts";
import { expireLost } from "#lib/browser/create-browser-service.ts";
import { createHostBrowsers } from "#lib/browser/create-host-browsers.ts";
import type { HostBrowsersDeps } from "#lib/browser/host/host-parts.ts";
import { createStoredRecords } from "#lib/browser/store/stored-records.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { createControlledCalls } from "#lib/browser/view/controlled-calls.ts";
import { createHostControl } from "#lib/browser/view/host-control.ts";
import { PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import { storeDownload } from "#lib/sandbox/store-download.ts";
import { createPictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { createPageTools } from "#lib/tools/browser/create-page-tools.ts";
import { createHandoverPages } from "#lib/tools/browser/handover/handover-pages.ts";
import type { HostServices } from "#lib/tools/browser/host-services.ts";
import { createPageTurns } from "#lib/tools/browser/page-turns.ts";
import { createPageRecorder } from "#lib/tools/browser/picture/page-recorder.ts";
import { createSnapshotBook } from "#lib/tools/browser/read/snapshot-book.ts";
import type { ScriptRunner } from "#lib/tools/browser/script/script-runner.ts";
import { describeFailure } from "#lib/tools/describe-failure.ts";
import { createVariantPages } from "#lib/variant/create-variant-pages.ts";
import { createVariantView } from "#lib/variant/show-for-picture.ts";
import { newHostId } from "../host-id.ts";
import { isHostAlive, removeHost, renewHost, storeHost } from "./host-store.ts";
import type { OpenedBrowsers } from "./open-hosted-browsers.ts";
import type { ServiceHandlersDeps } from "./service-handlers.ts";

type OwnBrowsersDeps = ServiceHandlersDeps &
  Omit<HostBrowsersDeps, "records" | "control" | "onAnnotation" | "storeDownload"> & {
    control: Pick<BrowserControl, "apply" | "stateOf" | "onHolder">;
    scripts: ScriptRunner;
    scriptHelpers: HostServices["scriptHelpers"];
    scriptOrigin: string;
  };

const RENEW_EVERY_MS = 5_000;
/** Stands for the connection of this process to itself. */
const OWN_LINK = {};

/**
 * Opens browsers whose host is this process itself. Serverless functions use a browser of a provider in this way,
 * because they cannot keep a host running. No other process can reach these browsers.
 */
export async function openOwnBrowsers(deps: OwnBrowsersDeps): Promise<OpenedBrowsers> {
  const { db, logger, evidence, files, scripts, scriptHelpers, scriptOrigin } = deps;
  const id = newHostId();
  const row = { id, home: "local", sessionId: null, machine: id, url: "", sealedToken: "" } as const;
  await storeHost(db, { ...row, protocol: PROTOCOL_VERSION, places: deps.maxLive });
  const records = createStoredRecords(deps, id);
  const control = createHostControl({
    hostId: id,
    browsers: () => browsers,
    onChange: deps.control.apply,
    emit: (sessionId, event) => records.emit({ sessionId, change: randomUUID(), event }),
    isHandedOver: (sessionId) => records.isHandedOver({ sessionId }),
    handoverPages: () => handoverPages,
    logger,
  });
  const browsers: HostBrowsers = await createHostBrowsers({
    ...deps,
    records,
    control,
    onAnnotation: (sessionId, body) => deps.onAnnotation(sessionId, body, randomUUID()),
    storeDownload: async (sessionId, name, bytes) =>
      storeDownload(await deps.downloads(sessionId), name, bytes),
  });
  const renew = () =>
    void renewHost(db, id, { load: browsers.listLive().length }).catch((error: unknown) =>
      logger.warn({ err: error }, "the lease of the process's browsers was not renewed"),
    );
  const timer = setInterval(renew, RENEW_EVERY_MS);
  timer.unref();
  await expireLost(deps);
  // People whose connections other processes serve cannot reach the page, but the agent stops for them.
  const stopFollowing = deps.control.onHolder(({ sessionId, hostId, holder }) => {
    if (holder && hostId !== id) control.interruptScripts(sessionId, holder.name);
  });
  const handoverPages = createHandoverPages(browsers);
  const recorder = createPageRecorder({
    browser: browsers,
    keepRecorded: records.keepRecorded,
    control,
    logger,
  });
  const pages = createPageTools({
    browser: browsers,
    control,
    pageTurns: createPageTurns(),
    scripts,
    files,
    evidence,
    snapshots: createSnapshotBook(),
    recorder,
    scriptHelpers,
    variants: createVariantView(deps.variantScripts),
  });
  const compare = createPictureComparer();
  return {
    browsers: {
      ...browsers,
      ...createControlledCalls({ control, browsers: async () => browsers, via: () => OWN_LINK }),
      async readControl(sessionId) {
        const known = deps.control.stateOf(sessionId);
        if (!known?.holder || known.hostId === id) return control.stateOf(sessionId);
        return (await isHostAlive(db, known.hostId)) ? known : undefined;
      },
      noteHandover: control.readHandover,
      reapIdle: async (listRecorded) => browsers.reapIdle(await listRecorded(id)),
    },
    pages: {
      ...pages,
      // No other host can be asked instead.
      firstLook: (session, signal) =>
        pages.firstLook(session, signal).catch((error: unknown) => describeFailure(error)),
    },
    relay: undefined,
    openTestPlace() {
      throw new Error("this process has no browser host on another machine");
    },
    variantPages: createVariantPages({
      browser: browsers,
      evidence,
      recorder,
      control,
      compare,
      scriptOrigin: () => scriptOrigin,
    }),
    async close() {
      clearInterval(timer);
      stopFollowing();
      control.close();
      await browsers.close();
      await removeHost(db, id).catch((error: unknown) =>
        logger.debug({ err: error }, "the end of the process's browsers was not recorded"),
      );
    },
  };
}
