import type { Logger } from "#lib/log/logger.ts";
import { shorten } from "#lib/text/shorten.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type {
  BrowserInput,
  BrowserOpening,
  LiveBrowser,
  NavigationOutcome,
  ScriptPointer,
  ViewListeners,
} from "../browser-service.ts";
import { hideOverlay } from "../overlay/hide-overlay.ts";
import type { SubmitAnnotation } from "../overlay/overlay-controller.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import { createPageNavigation, LOAD_TIMEOUT_MS, type PageNavigation } from "../page/page-navigation.ts";
import type { PageScript } from "../page/page-script.ts";
import { describeLogins } from "../state/describe-restart.ts";
import type { SiteDataChange } from "../state/site-data.ts";
import type { PictureKeeper, PictureKeeperDeps } from "../view/page-picture.ts";
import { createScreencast, type Screencast } from "../view/screencast.ts";
import {
  type BrowserLifecycle,
  createBrowserLifecycle,
  isStarting,
  type RunningBrowser,
  runningIn,
} from "./browser-lifecycle.ts";
import type { PlaceTicket } from "./browser-places.ts";
import type { StoredRecord } from "./browser-record.ts";
import { NoBrowserError } from "./browser-start.ts";
import { followBrowser } from "./follow-browser.ts";

/** The dependencies of one session's browser. */
type SessionBrowserDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  requestPlace: (onMove: (position: number) => void) => PlaceTicket;
  placeWait: { waitMs: number; explain: () => string };
  /** Takes a running browser from the pool. @throws Error with a readable message. */
  take: () => Promise<OpenBrowser>;
  /** Whether a viewer may start a browser: the agent has an open turn, and a place for a running browser is free. */
  mayStartForViewer: () => Promise<boolean>;
  /** Stores cookies and storage of sites, see `BrowserRecords.saveSiteData`. */
  saveSiteData: (change: Omit<SiteDataChange, "sessionId">) => Promise<boolean>;
  /** Reads the script that the service runs in the session's pages. */
  readPageScript: () => Promise<PageScript>;
  /** Called when the browser has become unused. The service may then end it for a waiting session. */
  onUnused: () => void;
  createPictureKeeper: (page: Pick<PictureKeeperDeps, "findIdle" | "hideOverlay">) => PictureKeeper;
  /** Returns why a page may not be opened; undefined if it may be. */
  refuse: (url: URL) => Promise<string | undefined>;
  onAnnotation: SubmitAnnotation;
  /** Whether the session has a workspace for files (`capabilities.sandbox`). */
  hasWorkspace: boolean;
  /** Stores a file that a page offered for download. @see BrowserServiceDeps.storeDownload */
  storeDownload: (name: string, bytes: Uint8Array) => Promise<string>;
  nowMs: () => number;
};

/** The browser of one session. Its Chromium may end and start again many times. */
export type SessionBrowser = {
  ensure: (signal?: AbortSignal) => Promise<LiveBrowser>;
  /** @see BrowserService.hold */
  hold: (signal?: AbortSignal) => Promise<() => void>;
  /** @see BrowserService.open */
  open: () => Promise<BrowserOpening>;
  /** @see HostBrowsers.goTo */
  goTo: (url: string, retargets: number) => Promise<void>;
  navigate: (url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  history: (action: HistoryAction) => Promise<BrowserOpening>;
  /** @see BrowserService.refreshPageScripts */
  refreshPageScript: () => Promise<void>;
  /** @see BrowserService.settle */
  settle: () => Promise<void>;
  touch: () => void;
  /** @see HostBrowsers.takeRestartNote */
  takeRestartNote: () => string | undefined;
  watch: (listeners: ViewListeners) => () => void;
  input: (input: BrowserInput) => Promise<void>;
  /** @see BrowserService.readCursor */
  readCursor: (x: number, y: number) => Promise<string>;
  /** Whether a browser runs or starts. Also true while the session waits for a place, before the browser starts. */
  isLive: () => boolean;
  /** Whether a browser runs. */
  isUp: () => boolean;
  /**
   * Whether a browser runs and is not in use: no tool call holds it, no viewer watches it, and no navigation is in
   * progress.
   */
  isUnused: () => boolean;
  /** Time since the last use of the browser, in milliseconds. Returns 0 while the browser is in use or does not run. */
  idleMs: (nowMs: number) => number;
  /**
   * Whether no browser runs or starts, and nothing has used or watched the session's browser for some minutes. The
   * object can then be dropped.
   */
  isEvictable: (nowMs: number) => boolean;
  /** @see BrowserLifecycle.handOver */
  handOver: () => void;
  /**
   * Ends the browser with all its processes, if one runs. If the session waits for a place, stops the wait. If a
   * browser is being started, ends the browser after its start.
   */
  end: () => Promise<void>;
  /** Like `end`, but keeps nothing of the browser, and so does not wait for pages that hang. */
  discard: () => Promise<void>;
};

const REST_MS = 10 * 60_000;
const URL_SHOWN = 500;

type HistoryAction = "back" | "forward" | "reload";

/** How people and tools use the session's browser. These values stay when the browser restarts. */
type Usage = {
  usedAtMs: number;
  /** Number of tool calls that hold the browser. While it is not 0, the browser does not count as unused. */
  holds: number;
  pointerListeners: Set<(pointer: ScriptPointer) => void>;
  /** The start of the browser of which the model was told last, see `RunningBrowser.starts`. */
  toldStarts: number;
};

type Session = {
  deps: SessionBrowserDeps;
  life: BrowserLifecycle;
  navigation: PageNavigation;
  cast: Screencast;
  picture: PictureKeeper;
  usage: Usage;
};

/** @see SessionBrowser */
export function createSessionBrowser(deps: SessionBrowserDeps): SessionBrowser {
  const session = assemble(deps);
  const { life } = session;
  return {
    ensure: (signal) => ensure(session, signal),
    hold: (signal) => hold(session, signal),
    open: () => open(session),
    refreshPageScript: () => refreshPageScript(session),
    settle: deps.record.settle,
    touch: () => touch(session),
    takeRestartNote: () => takeRestartNote(session),
    goTo: (url, retargets) => goTo(session, url, retargets),
    navigate: (url, signal) => navigate(session, url, signal),
    history: (action) => goThroughHistory(session, action),
    watch: (listeners) => watch(session, listeners),
    input: (input) => passInput(session, input),
    readCursor: async (x, y) =>
      (await runningIn(life.state())?.browser.selected().overlay.readCursor(x, y)) ?? "default",
    isLive: () => runningIn(life.state()) !== undefined || isStarting(life.state()),
    isUp: () => runningIn(life.state()) !== undefined,
    isUnused: () => isUnused(session),
    idleMs: (nowMs) => (isUnused(session) ? nowMs - session.usage.usedAtMs : 0),
    isEvictable: (nowMs) => isEvictable(session, nowMs),
    handOver: life.handOver,
    end: life.end,
    discard: life.discard,
  };
}

function assemble(deps: SessionBrowserDeps): Session {
  const { sessionId, logger } = deps;
  const usage: Usage = {
    usedAtMs: deps.nowMs(),
    holds: 0,
    pointerListeners: new Set(),
    toldStarts: 1,
  };
  const life = createBrowserLifecycle({
    ...deps,
    onTaken: (running) => followBrowser({ ...deps, life, navigation, cast }, running),
    land(browser, row) {
      usage.usedAtMs = deps.nowMs();
      browser.siteData.begin((change) => deps.saveSiteData({ ...change, generation: row.starts }));
      const landing = navigation.openStartPage(browser, row);
      void landing.then(() => noteUseEnded(session));
      return landing;
    },
    async onEnding(browser, event) {
      // The context of a crashed page still has its cookies. Of a browser that is gone, nothing can be read.
      if (event !== "lost") await browser.siteData.saveNow();
      if (event === "reaped") await session.picture.keep(browser);
    },
    onReleased() {
      navigation.abandon();
      cast.attach(undefined);
    },
  });
  const navigation = createPageNavigation({
    ...deps,
    isCurrent: (browser) => runningIn(life.state())?.browser === browser,
  });
  const cast = createScreencast((error) => logger.debug({ sessionId, err: error }, "screencast failed"));
  const picture = deps.createPictureKeeper({
    findIdle: () => (isUnused(session) ? runningIn(life.state())?.browser : undefined),
    hideOverlay: (browser) => hideOverlay(browser, "picture"),
  });
  const session: Session = { deps, life, navigation, cast, picture, usage };
  return session;
}

function isUnused({ life, usage, navigation, cast }: Session): boolean {
  return (
    life.state().kind === "up" && usage.holds === 0 && !navigation.isNavigating() && cast.watcherCount() === 0
  );
}

/** Every use sets `usedAtMs` at once, and none is in progress for this long without a browser that runs or starts. */
function isEvictable({ life, usage, navigation, cast }: Session, nowMs: number): boolean {
  return (
    life.state().kind === "none" &&
    usage.holds === 0 &&
    !navigation.isNavigating() &&
    cast.watcherCount() === 0 &&
    nowMs - usage.usedAtMs >= REST_MS
  );
}

function noteUseEnded(session: Session): void {
  session.usage.usedAtMs = session.deps.nowMs();
  runningIn(session.life.state())?.browser.siteData.saveSoon();
  if (!isUnused(session)) return;
  session.picture.keepSoon();
  session.deps.onUnused();
}

function touch({ deps, usage, navigation }: Session): void {
  usage.usedAtMs = deps.nowMs();
  navigation.noteUse();
}

function takeRestartNote({ life, usage }: Session): string | undefined {
  const running = runningIn(life.state());
  if (!running?.isRestart || running.starts <= usage.toldStarts) return undefined;
  usage.toldStarts = running.starts;
  const url = JSON.stringify(shorten(running.browser.selected().page.url(), URL_SHOWN));
  const logins = describeLogins(running.browser.siteData.restoration());
  const note = `The browser was restarted and shows ${url} now; ${logins}, and what was typed into forms is lost.`;
  const { restartReason: reason } = running;
  return reason === undefined ? note : `${note} The restart was needed because ${reason}.`;
}

async function ensure(session: Session, signal?: AbortSignal): Promise<LiveBrowser> {
  touch(session);
  const running = await session.life.provision(signal);
  await createDeadline({ signal }).race(running.landing);
  return toLiveBrowser(session, running);
}

/**
 * How many refs (element numbers in page snapshots) are reserved for each start of a session's browser. No browser
 * needs more.
 */
const REFS_PER_BROWSER = 100_000;

function toLiveBrowser({ deps, usage }: Session, { browser, starts }: RunningBrowser): LiveBrowser {
  return {
    sessionId: deps.sessionId,
    browser: browser.browser,
    context: browser.context,
    page: () => browser.selected().page,
    cdp: () => browser.toolSession(),
    openDevtools: browser.process.devtools.open,
    targetId: async () => browser.selected().targetId,
    shownDocument: () => browser.selected().shown(),
    noteScriptInput(pointer) {
      if (pointer) for (const listener of [...usage.pointerListeners]) listener(pointer);
    },
    hideOverlay: (why) => hideOverlay(browser, why),
    firstRef: (starts - 1) * REFS_PER_BROWSER + 1,
    claimDialogs: browser.dialogs.claim,
    activity: browser.activity,
    documents: browser.documents,
    pendingDownloads: browser.downloads.pending,
    hasWorkspace: deps.hasWorkspace,
    openingPages: browser.opening,
    select: browser.select,
    readRefusal: browser.readRefusal,
    openContext: browser.openContext,
    isOpen: browser.isOpen,
  };
}

/** Updates the page script of the running browser. A browser that starts later reads the script itself. */
async function refreshPageScript(session: Session): Promise<void> {
  const { deps, life } = session;
  const state = life.state();
  const running = runningIn(state);
  if (!running) {
    // A browser that is being started may have read the old script, so the script is read again after the start.
    if (isStarting(state)) void state.start.settled.then(() => refreshPageScript(session));
    return;
  }
  await running.browser.scripts
    .set(await deps.readPageScript())
    .catch((error: unknown) =>
      deps.logger.debug({ sessionId: deps.sessionId, err: error }, "a page did not run the script"),
    );
}

async function hold(session: Session, signal?: AbortSignal): Promise<() => void> {
  let isHeld = true;
  const release = () => {
    if (!isHeld) return;
    isHeld = false;
    session.usage.holds -= 1;
    noteUseEnded(session);
  };
  session.usage.holds += 1;
  try {
    await ensure(session, signal);
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

/** Starts the browser if none runs, and waits until it runs. If no place is free, returns without waiting for one. */
async function open({ deps, life, usage }: Session): Promise<BrowserOpening> {
  usage.usedAtMs = deps.nowMs();
  const up = life.provision().then(
    (): BrowserOpening => ({ state: "ready" }),
    (error: unknown): BrowserOpening => {
      if (error instanceof NoBrowserError) return { state: "failed", reason: error.message };
      throw error;
    },
  );
  return Promise.race([up, life.untilWaiting().then((): BrowserOpening => ({ state: "waiting" }))]);
}

/**
 * Opens the page of a retarget (a client's request to show another page). If the browser is lost meanwhile and there is
 * no newer retarget, retries once with a new browser.
 */
async function goTo(session: Session, url: string, retargets: number, isRetry = false): Promise<void> {
  const { life, navigation, usage, deps } = session;
  usage.usedAtMs = deps.nowMs();
  const running = await life.provision();
  // A browser that has just started may already be opening the page of this retarget or of a newer one.
  if (navigation.lastRetarget() < retargets) {
    await navigation.goToSelected(running.browser, url, retargets);
    noteUseEnded(session);
  } else await running.landing;
  const isNewest = navigation.lastRetarget() === retargets;
  if (running.isLost && isNewest && !isRetry) await goTo(session, url, retargets, true);
}

async function navigate(session: Session, url: string, signal?: AbortSignal): Promise<NavigationOutcome> {
  const { deps, life, navigation, usage } = session;
  await ensure(session, signal);
  const running = runningIn(life.state());
  if (!running) return { landed: false, reason: "the browser ended meanwhile" };
  const outcome = await navigation.go(running.browser, url, signal);
  usage.usedAtMs = deps.nowMs();
  return outcome;
}

async function goThroughHistory(session: Session, action: HistoryAction): Promise<BrowserOpening> {
  const { life, deps } = session;
  const wasUp = runningIn(life.state()) !== undefined;
  const opening = await open(session);
  const running = runningIn(life.state());
  // A browser that has just started has a freshly loaded page and no history.
  if (!wasUp || !running || opening.state !== "ready") return opening;
  touch(session);
  const { page } = running.browser.selected();
  const options = { waitUntil: "domcontentloaded", timeout: LOAD_TIMEOUT_MS } as const;
  const moves = {
    back: () => page.goBack(options),
    forward: () => page.goForward(options),
    reload: () => page.reload(options),
  };
  // Errors do not fail the call: a refusal is already recorded, and after a timeout the page may still be loading.
  await moves[action]().catch((error) =>
    deps.logger.debug(
      { sessionId: deps.sessionId, action, err: error },
      "history navigation did not complete",
    ),
  );
  noteUseEnded(session);
  return opening;
}

function watch(session: Session, { onFrame, onPointer }: ViewListeners): () => void {
  const { deps, cast, usage } = session;
  usage.usedAtMs = deps.nowMs();
  const unwatch = cast.watch(onFrame);
  if (onPointer) usage.pointerListeners.add(onPointer);
  provisionForViewer(session).catch((error) =>
    deps.logger.debug({ sessionId: deps.sessionId, err: error }, "no browser was started for a viewer"),
  );
  return () => {
    if (onPointer) usage.pointerListeners.delete(onPointer);
    unwatch();
    noteUseEnded(session);
  };
}

/** Starts a browser for a viewer if none runs and `mayStartForViewer` allows it. */
async function provisionForViewer({ deps, life }: Session): Promise<void> {
  if (runningIn(life.state()) || isStarting(life.state())) return;
  if (await deps.mayStartForViewer()) await life.provision();
}

async function passInput(session: Session, input: BrowserInput): Promise<void> {
  const { deps, life, usage } = session;
  const isMove = input.type === "mouse" && input.action === "move";
  if (isMove) usage.usedAtMs = deps.nowMs();
  else touch(session);
  if (!runningIn(life.state())) {
    const state = life.state();
    // The input is dropped, because the session may get a place only minutes later. The browser may then show another
    // page than the page that the person saw.
    if (state.kind === "starting" && state.start.isWaiting()) return;
    if ((await open(session)).state !== "ready") return;
    await runningIn(life.state())?.landing;
  }
  const running = runningIn(life.state());
  if (!isMove) running?.browser.siteData.saveSoon();
  await running?.inputQueue?.push(input);
}
