import { join } from "node:path";
import type { Database } from "#db/client.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { AddressRule } from "#lib/net/address/address-rule.ts";
import type { OwnOrigin } from "#lib/net/proxy/own-origin.ts";
import { listSessionsInTurn } from "#lib/session/run/run-store.ts";
import type { BrowserRecord, BrowserService } from "./browser-service.ts";
import type { AnnotationVerdict } from "./overlay/install-overlay.ts";
import { type OpenBrowser, openBrowser } from "./page/open-browser.ts";
import { createBrowserEgress } from "./process/browser-egress.ts";
import { createBrowserPool } from "./process/browser-pool.ts";
import type { BrowserProvider } from "./process/browser-provider.ts";
import { createLocalProvider } from "./process/local-provider.ts";
import { sweepBrowsers } from "./process/profile-folder.ts";
import { createRemoteProvider } from "./process/remote-provider.ts";
import { createBrowserClaims, type HandOver } from "./session/browser-claims.ts";
import { createBrowserPlaces, orderForEnding } from "./session/browser-places.ts";
import { createStoredRecord, readShownFields } from "./session/browser-record.ts";
import { type BrowserOwner, type BrowserRow, readBrowserSession } from "./session/browser-store.ts";
import { createSessionBrowser, type SessionBrowser } from "./session/session-browser.ts";
import { createPictureKeeper } from "./view/page-picture.ts";
import { readPagePicture, readPictureTime } from "./view/picture-store.ts";

/** What the browsers of all sessions need. Times in milliseconds. */
export type BrowserServiceDeps = {
  db: Database;
  log: EventLog;
  logger: Logger;
  /** This process among those that share the database. */
  owner: BrowserOwner;
  /** The way to tell another process that its browser was taken over; none where there are no others. */
  handOver?: HandOver;
  /** Which Chromium: one of this machine, or a DevTools endpoint, which then wins. With neither there are no browsers. */
  launch: { executablePath?: string; args?: string[]; env?: Record<string, string>; cdpUrl?: string };
  dataDir: string;
  /** The guard's rule; pages go where it lets them. */
  rule: AddressRule;
  /** Where this service listens: of it, pages see `/demo` and `/p/` alone. */
  ownOrigin: Omit<OwnOrigin, "paths"> | undefined;
  idleMs: number;
  /** Browsers that this process runs at once, and how long a session waits for one, in milliseconds. */
  maxLive: number;
  waitMs: number;
  /** Stores what a person submitted in the overlay, given as the webhook's body; a refusal is shown to the person. */
  onAnnotation: (sessionId: string, body: string) => Promise<AnnotationVerdict>;
  clock?: () => Date;
  /** Whether a browser is kept warm for the next session; by default it is, on this machine. */
  keepSpare?: boolean;
  /** How long a page may take to answer; 30 s by default. */
  navigationTimeoutMs?: number;
  /** How long a script may leave a dialog open that it listens for; 10 s by default. */
  dialogTimeoutMs?: number;
};

const WARM_UP_DELAY_MS = 3_000;
const NAVIGATION_TIMEOUT_MS = 30_000;
/** An open turn that has used its browser more recently keeps it, although other sessions wait. */
const EVICTION_IDLE_MS = 30_000;

/**
 * Makes the service of all sessions' browsers. What an earlier process left behind is ended first, and rows of browsers
 * whose process has gone become `expired`.
 */
export async function createBrowserService(deps: BrowserServiceDeps): Promise<BrowserService> {
  const { db, log, logger, owner, launch, dataDir, idleMs, maxLive, waitMs } = deps;
  const nowMs = () => (deps.clock?.() ?? new Date()).getTime();
  const folder = join(dataDir, "browsers");
  const egress = createBrowserEgress(deps.rule, deps.ownOrigin, logger);
  const provider = chooseProvider();
  const limits = {
    navigationTimeoutMs: deps.navigationTimeoutMs ?? NAVIGATION_TIMEOUT_MS,
    dialogTimeoutMs: deps.dialogTimeoutMs,
  };
  const pool = createBrowserPool({
    open: () => openBrowser(provider, egress, limits),
    keepSpare: deps.keepSpare ?? launch.cdpUrl === undefined,
    logger,
  });
  const sessions = new Map<string, Promise<SessionBrowser>>();
  /** Sessions known by now: those whose browser can be looked at without waiting. */
  const known = new Map<string, SessionBrowser>();
  const places = createBrowserPlaces({
    ...{ max: maxLive, endUnused },
    onError: (error) => logger.warn({ err: error }, "no browser could be ended for a waiting session"),
  });
  const placeWait = {
    waitMs,
    explain: () =>
      `no browser became free within ${waitMs / 1_000} s: all ${maxLive} are in use (BROWSER_MAX_LIVE); try again later`,
  };
  let isClosed = false;

  function chooseProvider(): BrowserProvider {
    if (launch.cdpUrl !== undefined) return createRemoteProvider({ cdpUrl: launch.cdpUrl, egress, logger });
    const { executablePath, args = [], env = {} } = launch;
    if (executablePath !== undefined) {
      return createLocalProvider({ launch: { executablePath, args, env }, folder, egress, logger });
    }
    const detail = "no Chromium was found: set BROWSER_EXECUTABLE_PATH or BROWSER_CDP_URL";
    return {
      start: () => Promise.reject(new Error(detail)),
      describe: () => ({ available: false, detail }),
    };
  }

  function sessionBrowser(sessionId: string): Promise<SessionBrowser> {
    const found = sessions.get(sessionId);
    if (found) return found;
    const made = makeSessionBrowser(sessionId);
    sessions.set(sessionId, made);
    made.then(
      (browser) => known.set(sessionId, browser),
      () => sessions.delete(sessionId),
    );
    return made;
  }

  async function makeSessionBrowser(sessionId: string): Promise<SessionBrowser> {
    if (isClosed) throw new Error("the service is closing");
    const session = await readBrowserSession(db, sessionId);
    if (!session) throw new Error(`there is no session ${sessionId}`);
    if (!session.capabilities.browser)
      throw new Error("this session has no browser (capabilities.browser is false)");
    return createSessionBrowser({
      sessionId,
      record: createStoredRecord({ db, log, logger, owner }, sessionId, session),
      logger,
      isElsewhere: () => claims.isElsewhere(sessionId),
      onTakenOver: (holder) => claims.tellTakenOver(sessionId, holder),
      requestPlace: places.request,
      placeWait,
      take,
      mayStartForViewer: async () =>
        places.hasRoom() && (await listSessionsInTurn(db, [sessionId])).includes(sessionId),
      onUnused: places.recheck,
      createPictureKeeper: (page) => createPictureKeeper({ db, sessionId, logger, ...page }),
      refuse: egress.refuse,
      onAnnotation: (body) => deps.onAnnotation(sessionId, body),
      nowMs,
    });
  }

  async function take(): Promise<OpenBrowser> {
    const taken = await pool.take();
    if (!isClosed) return taken;
    await taken.close();
    throw new Error("the service is closing");
  }

  /** Ends up to so many browsers that their sessions can do without, in the documented order. */
  async function endUnused(count: number): Promise<void> {
    const unused = [...known].filter(([, browser]) => browser.isUnused());
    if (unused.length === 0) return;
    const inTurn = await listSessionsInTurn(
      db,
      unused.map(([sessionId]) => sessionId),
    );
    const ordered = orderForEnding(
      unused.map(([sessionId, browser]) => ({
        ...{ browser, hasOpenTurn: inTurn.includes(sessionId), idleMs: browser.idleMs(nowMs()) },
      })),
      Math.min(idleMs, EVICTION_IDLE_MS),
    );
    // A tool call may have begun since the database was asked.
    const ended = ordered.filter(({ browser }) => browser.isUnused()).slice(0, count);
    await Promise.all(ended.map(({ browser }) => browser.end()));
  }

  const claims = createBrowserClaims({
    ...{ db, log, logger, owner, handOver: deps.handOver },
    listLive: () => [...known].flatMap(([sessionId, browser]) => (browser.isLive() ? [sessionId] : [])),
    end: async (sessionId) => known.get(sessionId)?.end(),
  });

  // Browsers elsewhere leave nothing on this machine, which may have no disk to look at.
  if (launch.cdpUrl === undefined) await sweepBrowsers(folder);
  await claims.expireLost();
  const stopFollowing = claims.follow();
  const warmUp = setTimeout(pool.warmUp, WARM_UP_DELAY_MS);
  warmUp.unref();
  if (!provider.describe().available) clearTimeout(warmUp);

  return {
    async readStatus(sessionId) {
      const row = await claims.read(sessionId);
      if (row) return toRecord(sessionId, row);
      const session = await readBrowserSession(db, sessionId);
      return {
        ...NO_BROWSER,
        sessionId: session ? sessionId : null,
        desiredUrl: session?.initialUrl ?? null,
      };
    },
    retarget: async (sessionId, url) => (await sessionBrowser(sessionId)).retarget(url),
    ensure: async (sessionId, signal) => (await sessionBrowser(sessionId)).ensure(signal),
    hold: async (sessionId, signal) => (await sessionBrowser(sessionId)).hold(signal),
    open: async (sessionId) => (await sessionBrowser(sessionId)).open(),
    navigate: async (sessionId, url, signal) => (await sessionBrowser(sessionId)).navigate(url, signal),
    history: async (sessionId, action) => (await sessionBrowser(sessionId)).history(action),
    touch: (sessionId) => known.get(sessionId)?.touch(),
    watch(sessionId, listeners) {
      let stop: (() => void) | undefined;
      let isOver = false;
      sessionBrowser(sessionId).then(
        (browser) => {
          if (!isOver) stop = browser.watch(listeners);
        },
        (error) => logger.debug({ sessionId, err: error }, "nothing to watch"),
      );
      return () => {
        isOver = true;
        stop?.();
        stop = undefined;
      };
    },
    input: async (sessionId, input) => (await sessionBrowser(sessionId)).input(input),
    readCursor: async (sessionId, x, y) => (await known.get(sessionId)?.readCursor(x, y)) ?? "default",
    readPicture: (sessionId) => readPagePicture(db, sessionId),
    readPictureTime: (sessionId) => readPictureTime(db, sessionId),
    async reapIdle(now) {
      const idle = [...known.values()].filter(
        (browser) => browser.isUnused() && browser.idleMs(now.getTime()) >= idleMs,
      );
      await Promise.all(idle.map((browser) => browser.end()));
      await claims.expireLost();
      return idle.length;
    },
    async closeSession(sessionId) {
      const browser = await sessions.get(sessionId)?.catch(() => undefined);
      sessions.delete(sessionId);
      known.delete(sessionId);
      await browser?.end();
    },
    describe() {
      const live = [...known.values()].filter((browser) => browser.isUp()).length;
      return { ...provider.describe(), live };
    },
    async close() {
      isClosed = true;
      stopFollowing();
      clearTimeout(warmUp);
      await Promise.all([...[...known.values()].map((browser) => browser.end()), pool.close()]);
    },
  };
}

const NO_BROWSER: BrowserRecord = {
  status: "idle",
  sessionId: null,
  liveViewUrl: null,
  desiredUrl: null,
  lastNavigatedUrl: null,
  currentUrl: null,
  lastError: null,
};

function toRecord(sessionId: string, row: BrowserRow): BrowserRecord {
  const liveViewUrl = row.status === "ready" ? `/s/${sessionId}/live` : null;
  return { ...readShownFields(row), sessionId, liveViewUrl };
}
