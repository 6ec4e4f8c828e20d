import type { ScriptPointer } from "../../browser-service.ts";
import type { SubmitAnnotation } from "../../overlay/overlay-controller.ts";
import type { PageNavigation } from "../../page/page-navigation.ts";
import type { PageScript } from "../../page/page-script.ts";
import type { ControlState, SessionStage } from "../../stage/session-stage.ts";
import type { SiteDataChange } from "../../state/site-data.ts";
import type { PictureKeeper, PictureKeeperDeps } from "../../view/page-picture.ts";
import type { Screencast } from "../../view/screencast.ts";
import type { BrowserLifecycle } from "../browser-lifecycle.ts";
import { type LifecycleDeps, runningIn } from "../lifecycle/lifecycle-state.ts";

/** The dependencies of one session's browser. */
export type SessionBrowserDeps = Pick<
  LifecycleDeps,
  "sessionId" | "record" | "logger" | "requestPlace" | "placeWait" | "take"
> & {
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
  /** Who has control of browsers. */
  control: ControlState;
  /** Stores a file that a page offered for download. @see BrowserServiceDeps.storeDownload */
  storeDownload: (name: string, bytes: Uint8Array) => Promise<string>;
  nowMs: () => number;
};

/** How people and tools use the session's browser. These values stay when the browser restarts. */
export type Usage = {
  usedAtMs: number;
  /** Number of tool calls that hold the browser. While it is not 0, the browser does not count as unused. */
  holds: number;
  pointerListeners: Set<(pointer: ScriptPointer) => void>;
  /** The start of the browser of which the model was told last, see `RunningBrowser.starts`. */
  toldStarts: number;
};

/** A size in CSS pixels. */
export type ViewportSize = { width: number; height: number };

/** The size that people have chosen for the page of a session, and the sharpness of its pictures. */
export type SessionViewport = {
  size: ViewportSize;
  /** Pixels of the pictures for a CSS pixel. */
  scale: number;
  /** The size that the model was told. */
  toldSize: ViewportSize;
  /** The last change that is being applied. Changes meanwhile cause one further application. */
  applying: Promise<void> | undefined;
  isStale: boolean;
  /** Whether the selected page has a new document since the viewport was applied. */
  hasNewDocument: boolean;
  /** What was applied to each page, by its DevTools session. Other pages have the default viewport. */
  applied: WeakMap<object, AppliedViewport>;
};

/**
 * What was applied to a page. `drawnScale` is the scale that Chromium was given, which can differ from `scale` by next to
 * nothing. `wasChanged`: whether the page ever had another viewport than the default one.
 */
type AppliedViewport = { size: ViewportSize; scale: number; drawnScale: number; wasChanged: boolean };

/** The parts of a session's browser. The functions of this folder work on them. */
export type Session = {
  deps: SessionBrowserDeps;
  life: BrowserLifecycle;
  navigation: PageNavigation;
  cast: Screencast;
  stage: SessionStage;
  picture: PictureKeeper;
  usage: Usage;
  viewport: SessionViewport;
};

const REST_MS = 10 * 60_000;

/** @see SessionBrowser.isUnused */
export function isUnused({ life, usage, navigation, cast }: Session): boolean {
  return (
    life.state().kind === "up" && usage.holds === 0 && !navigation.isNavigating() && cast.watcherCount() === 0
  );
}

/** Every use sets `usedAtMs` at once, and none is in progress for this long without a browser that runs or starts. */
export function isEvictable({ life, usage, navigation, cast }: Session, nowMs: number): boolean {
  return (
    life.state().kind === "none" &&
    usage.holds === 0 &&
    !navigation.isNavigating() &&
    cast.watcherCount() === 0 &&
    nowMs - usage.usedAtMs >= REST_MS
  );
}

/** Notes the end of a use. Stores site data and a picture soon, if the browser is unused now. */
export function noteUseEnded(session: Session): void {
  session.usage.usedAtMs = session.deps.nowMs();
  runningIn(session.life.state())?.browser.siteData.saveSoon();
  if (!isUnused(session)) return;
  session.picture.keepSoon();
  session.deps.onUnused();
}

/** Notes a use of the browser. */
export function touch({ deps, usage, navigation }: Session): void {
  usage.usedAtMs = deps.nowMs();
  navigation.noteUse();
}
