import { join } from "node:path";
import type { HostBrowsers, HostPlaces } from "./browser-service.ts";
import { chooseProvider } from "./host/choose-provider.ts";
import type { HostBrowsersDeps, Parts } from "./host/host-parts.ts";
import { leasePlace } from "./host/lease-place.ts";
import { makeSessionBrowser } from "./host/make-session-browser.ts";
import { openBrowser } from "./page/open-browser.ts";
import { createBrowserEgress } from "./process/browser-egress.ts";
import { createBrowserPool } from "./process/browser-pool.ts";
import { sweepBrowsers } from "./process/profile-folder.ts";
import { createBrowserPlaces } from "./session/browser-places.ts";
import { createStoredRecord } from "./session/browser-record.ts";
import { createSessionBrowsers } from "./session/session-browsers.ts";
import { endIdle, endUnused } from "./session/unused-browsers.ts";
import { NOT_RUNNING, refuseAction } from "./stage/stage-state.ts";

const NAVIGATION_TIMEOUT_MS = 30_000;

/** Creates the browsers of a host. First ends the browsers that an earlier host left in the data folder. */
export async function createHostBrowsers(deps: HostBrowsersDeps): Promise<HostBrowsers & HostPlaces> {
  const folder = join(deps.dataDir, "browsers");
  const parts = assemble(deps, folder);
  const { pool, provider, browsers, places } = parts;
  // Only local browsers leave processes and profile folders on this machine.
  if (deps.launch.cdpUrl === undefined) await sweepBrowsers(folder);
  const listLive = () => browsers.list().flatMap(([id, browser]) => (browser.isLive() ? [id] : []));
  return {
    ...createSessionCalls(parts),
    lease: (signal) => leasePlace(parts, signal),
    warmUp() {
      if (provider.describe().available) pool.warmUp();
    },
    async refreshPageScripts(sessionIds) {
      await Promise.all(sessionIds.map((sessionId) => browsers.peek(sessionId)?.refreshPageScript()));
    },
    async reapIdle(recorded) {
      browsers.dropResting(parts.nowMs());
      const ended = await endIdle(parts);
      await dropUnfounded(parts, recorded);
      return ended;
    },
    async closeSession(sessionId) {
      const browser = await browsers.remove(sessionId);
      await browser?.discard();
    },
    handOver: (sessionId) => browsers.peek(sessionId)?.handOver(),
    offerPlaces: places.offer,
    listLive,
    listUp: () => browsers.list().flatMap(([id, browser]) => (browser.isUp() ? [id] : [])),
    describe() {
      const live = browsers.list().filter(([, browser]) => browser.isUp()).length;
      return { ...provider.describe(), live };
    },
    async close() {
      parts.isClosed = true;
      await Promise.all([...browsers.list().map(([, browser]) => browser.end()), pool.close()]);
    },
  };
}

/** Records the end of browsers that are recorded as running here, but do not run or start any more. */
async function dropUnfounded({ deps, browsers }: Parts, recorded: readonly string[]): Promise<void> {
  for (const sessionId of recorded) {
    if (browsers.peek(sessionId)?.isLive()) continue;
    await createStoredRecord(deps, sessionId)
      .dropClaim()
      .catch((error) => deps.logger.warn({ sessionId, err: error }, "the end of a browser was not recorded"));
  }
}

function assemble(deps: HostBrowsersDeps, folder: string): Parts {
  const { logger, launch } = deps;
  const egress = createBrowserEgress(deps.rule, deps.ownOrigin, logger, deps.onRequestRefused);
  const provider = chooseProvider(deps, folder, egress);
  const settings = {
    logger,
    navigationTimeoutMs: deps.navigationTimeoutMs ?? NAVIGATION_TIMEOUT_MS,
    dialogTimeoutMs: deps.dialogTimeoutMs,
    personMsMax: deps.personMsMax,
    downloadTimeoutMs: deps.downloadTimeoutMs,
  };
  const pool = createBrowserPool({
    open: (use) => openBrowser(() => provider.start(use), egress, settings),
    hasRoom: provider.hasRoom,
    keepSpare: launch.cdpUrl === undefined && (deps.keepSpare ?? true),
    logger,
  });
  const places = createBrowserPlaces({
    max: deps.maxLive,
    endUnused: (count) => endUnused(parts, count),
    takeNext: async () => (await deps.records.takeNext({ change: crypto.randomUUID() })) ?? undefined,
    listPositions: () => deps.records.listPositions(null),
    seekElsewhere: (count) =>
      void deps.records
        .seekElsewhere({ count })
        .catch((error: unknown) => logger.debug({ err: error }, "no other host was asked for places")),
    onError: (error) => logger.warn({ err: error }, "no place could be found for a waiting session"),
  });
  const browsers = createSessionBrowsers((sessionId) => makeSessionBrowser(parts, sessionId));
  const nowMs = deps.clockMs ?? (() => performance.now());
  const parts: Parts = {
    deps,
    nowMs,
    egress,
    provider,
    pool,
    places,
    browsers,
    isClosed: false,
  };
  return parts;
}

/** Creates the methods that act on the browser of one session. */
function createSessionCalls({ deps, browsers }: Parts) {
  const { logger } = deps;
  return {
    ensure: async (sessionId, signal) => (await browsers.get(sessionId)).ensure(signal),
    hold: async (sessionId, signal) => (await browsers.get(sessionId)).hold(signal),
    open: async (sessionId) => (await browsers.get(sessionId)).open(),
    goTo: async (sessionId, url, retargets) => (await browsers.get(sessionId)).goTo(url, retargets),
    navigate: async (sessionId, url, signal) => (await browsers.get(sessionId)).navigate(url, signal),
    history: async (sessionId, action) => (await browsers.get(sessionId)).history(action),
    settle: async (sessionId) => browsers.peek(sessionId)?.settle(),
    takeRestartNote: (sessionId) => browsers.peek(sessionId)?.takeRestartNote(),
    takeViewportNote: (sessionId) => browsers.peek(sessionId)?.takeViewportNote(),
    readLastError: async (sessionId) => (await deps.records.read(sessionId))?.lastError ?? null,
    touch: (sessionId) => browsers.peek(sessionId)?.touch(),
    watch(sessionId, listeners) {
      let stop: (() => void) | undefined;
      let isOver = false;
      browsers.get(sessionId).then(
        (browser) => {
          if (!isOver) stop = browser.watch(listeners);
        },
        (error) => logger.debug({ sessionId, err: error }, "no browser for a viewer to watch"),
      );
      return () => {
        isOver = true;
        stop?.();
        stop = undefined;
      };
    },
    // Waits only if it must, so that a copy or paste that is called after an input does not overtake it.
    input: async (sessionId, input, mayPass) =>
      (browsers.peek(sessionId) ?? (await browsers.get(sessionId))).input(input, mayPass),
    copy: async (sessionId, action, mayPass) =>
      (await browsers.peek(sessionId)?.copy(action, mayPass)) ?? null,
    paste: async (sessionId, items, mayPass) =>
      (await browsers.peek(sessionId)?.paste(items, mayPass)) ?? NOT_RUNNING,
    setViewport: async (sessionId, change) => browsers.peek(sessionId)?.setViewport(change),
    act: async (sessionId, action) =>
      (await browsers.peek(sessionId)?.act(action)) ?? refuseAction("no browser runs"),
    readField: async (sessionId) => (await browsers.peek(sessionId)?.readField()) ?? null,
    addressOf: (sessionId) => browsers.peek(sessionId)?.address() ?? null,
    findElements: async (sessionId, anchors) =>
      (await browsers.peek(sessionId)?.findElements(anchors)) ?? null,
    locateTarget: async (sessionId, part) => (await browsers.peek(sessionId)?.locateTarget(part)) ?? null,
    captureBoxes: async (sessionId, boxes) => (await browsers.peek(sessionId)?.captureBoxes(boxes)) ?? null,
    readCursor: async (sessionId, x, y) => (await browsers.peek(sessionId)?.readCursor(x, y)) ?? "default",
  } satisfies Partial<HostBrowsers>;
}
