import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import type {
  BrowserInput,
  BrowserOpening,
  CopiedContent,
  InputGate,
  LiveBrowser,
  NavigationOutcome,
  PastedItem,
  ViewListeners,
  ViewportChange,
} from "../browser-service.ts";
import { hideOverlay } from "../overlay/hide-overlay.ts";
import type { ElementAnchor, SoughtElements } from "../overlay/locate/find-elements.ts";
import type { MarkedPart, MarkedTarget } from "../overlay/locate/locate-target.ts";
import { describeLoadFailure } from "../page/load-failure.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import { createPageNavigation } from "../page/page-navigation.ts";
import { createSessionStage } from "../stage/session-stage.ts";
import type { ActionOutcome, StageAction } from "../stage/stage-state.ts";
import { captureBoxes } from "../view/capture-boxes.ts";
import { createScreencast } from "../view/screencast.ts";
import { createBrowserLifecycle } from "./browser-lifecycle.ts";
import { followBrowser } from "./follow-browser.ts";
import { isStarting, runningIn } from "./lifecycle/lifecycle-state.ts";
import { goThroughHistory, goTo, type HistoryAction, navigate } from "./use/navigate-browser.ts";
import { ensure, hold, open, refreshPageScript, takeRestartNote } from "./use/provide-browser.ts";
import {
  isEvictable,
  isUnused,
  noteUseEnded,
  type Session,
  type SessionBrowserDeps,
  touch,
  type Usage,
} from "./use/session-state.ts";
import { act, copy, passInput, paste, watch } from "./use/view-browser.ts";
import {
  applyViewport,
  newViewport,
  setViewport,
  showDocument,
  takeViewportNote,
  viewScale,
} from "./use/viewport.ts";

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
  /** @see HostBrowsers.input */
  input: (input: BrowserInput, mayPass?: InputGate) => Promise<void>;
  /** @see HostBrowsers.copy */
  copy: (action: "copy" | "cut", mayPass?: InputGate) => Promise<CopiedContent | null>;
  /** @see HostBrowsers.paste */
  paste: (items: readonly PastedItem[], mayPass?: InputGate) => Promise<ActionOutcome>;
  /** @see HostBrowsers.setViewport */
  setViewport: (change: ViewportChange) => Promise<void>;
  /** @see HostBrowsers.takeViewportNote */
  takeViewportNote: () => string | undefined;
  /** @see HostBrowsers.act */
  act: (action: StageAction) => Promise<ActionOutcome>;
  /** @see HostBrowsers.readField */
  readField: () => Promise<string | null>;
  /** Returns the address of the page. Undefined if no browser runs. */
  address: () => string | undefined;
  /** @see BrowserService.findElements */
  findElements: (anchors: readonly ElementAnchor[]) => Promise<SoughtElements | undefined>;
  /** @see BrowserService.locateTarget */
  locateTarget: (part: MarkedPart) => Promise<MarkedTarget | undefined>;
  /** @see BrowserService.captureBoxes */
  captureBoxes: (boxes: readonly Box[]) => Promise<(Uint8Array | null)[] | undefined>;
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
    input: (input, mayPass) => passInput(session, input, mayPass),
    copy: (action, mayPass) => copy(session, action, mayPass),
    paste: (items, mayPass) => paste(session, items, mayPass),
    setViewport: (change) => setViewport(session, change),
    takeViewportNote: () => takeViewportNote(session),
    act: (action) => act(session, action),
    readField: async () => (await runningIn(life.state())?.browser.selected().overlay.readField()) ?? null,
    address: () => runningIn(life.state())?.browser.selected().page.url(),
    findElements: (anchors) => readForAnyone(session, (browser) => browser.selected().overlay.find(anchors)),
    locateTarget: (part) => readForAnyone(session, (browser) => browser.selected().overlay.locate(part)),
    captureBoxes: (boxes) =>
      readForAnyone(session, (browser) =>
        captureBoxes(browser, boxes, () => hideOverlay(browser, "picture")).catch(() => undefined),
      ),
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

/**
 * Reads the page for callers who may not have control of it. Undefined if no browser runs, and during a handover, also if
 * it began while the page was read. Source: decision 126.
 */
async function readForAnyone<Result>(
  { deps: { control, sessionId }, life }: Session,
  read: (browser: OpenBrowser) => Promise<Result | undefined>,
): Promise<Result | undefined> {
  const browser = runningIn(life.state())?.browser;
  if (!browser || control.isPrivate(sessionId)) return undefined;
  const result = await read(browser);
  return control.isPrivate(sessionId) ? undefined : result;
}

function assemble(deps: SessionBrowserDeps): Session {
  const { sessionId, logger } = deps;
  const usage: Usage = {
    usedAtMs: deps.nowMs(),
    holds: 0,
    pointerListeners: new Set(),
    toldStarts: 1,
  };
  const view = {
    scale: () => viewScale(session),
    onSelected: () => keepViewport(session, applyViewport),
    onDocument: () => keepViewport(session, showDocument),
  };
  const life = createBrowserLifecycle({
    ...deps,
    onTaken: (running) =>
      followBrowser(
        { ...deps, isPrivate: () => deps.control.isPrivate(sessionId), life, navigation, cast, view, stage },
        running,
      ),
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
      const { toldSize } = session.viewport;
      session.viewport = { ...newViewport(), toldSize };
      cast.setView({ size: session.viewport.size, scale: session.viewport.scale });
      stage.noteFailure(undefined);
      stage.noteChange();
    },
  });
  const navigation = createPageNavigation({
    ...deps,
    isCurrent: (browser) => runningIn(life.state())?.browser === browser,
    onFailed: (url, reason) => stage.noteFailure(describeLoadFailure(url, reason)),
  });
  const stage = createSessionStage({ ...deps, running: () => runningIn(life.state())?.browser });
  const cast = createScreencast((error) => logger.debug({ sessionId, err: error }, "screencast failed"));
  const picture = deps.createPictureKeeper({
    findIdle: () => (isUnused(session) ? runningIn(life.state())?.browser : undefined),
    hideOverlay: (browser) => hideOverlay(browser, "picture"),
  });
  const session: Session = { deps, life, navigation, cast, stage, picture, usage, viewport: newViewport() };
  return session;
}

/** Gives a page that has just been selected, or a new document, the viewport that people have chosen. */
function keepViewport(session: Session, apply: (session: Session) => Promise<void>): void {
  const { sessionId, logger } = session.deps;
  apply(session).catch((error: unknown) =>
    logger.debug({ sessionId, err: error }, "the viewport of a page was not set"),
  );
}
