import type { Browser, BrowserContext, CDPSession, Page } from "playwright";
import type { BrowserStatus } from "#db/schema/unions.ts";
import type { ScreencastFrame } from "#lib/client/frame-header.ts";
import type { OverlayHold } from "./overlay/overlay-gate.ts";
import type { FreshContext, FreshContextOptions } from "./page/open-fresh-context.ts";
import type { PageActivity } from "./page/page-activity.ts";
import type { PageDialogs } from "./page/page-dialogs.ts";
import type { Devtools } from "./process/devtools-connection.ts";
import type { PagePicture } from "./view/picture-store.ts";

/** The browser of a session as its status endpoint shows it. Source: specification, Browser status; `wire.md`, Browser. */
export type BrowserRecord = {
  status: BrowserStatus;
  sessionId: string | null;
  liveViewUrl: string | null;
  desiredUrl: string | null;
  lastNavigatedUrl: string | null;
  currentUrl: string | null;
  lastError: string | null;
};

/** The running browser of a session, as tools use it. */
export type LiveBrowser = {
  sessionId: string;
  browser: Browser;
  context: BrowserContext;
  /**
   * Returns the selected page, which people see and tools work on. A new popup becomes the selected page until it closes.
   */
  page: () => Page;
  /** Returns a DevTools session that is attached to the selected page. */
  cdp: () => Promise<CDPSession>;
  /** Opens another connection to the browser's DevTools. Only the service's relay for scripts of the agent uses it. */
  openDevtools: Devtools["open"];
  /** Returns the DevTools target id of the selected page. */
  targetId: () => Promise<string>;
  /** Reports that a script of the agent acted on the page: its pointer move or press, or `undefined` for any other input. */
  noteScriptInput: (pointer: ScriptPointer | undefined) => void;
  /**
   * Removes the annotation overlay from all pages until the returned function is called. While it is removed for a script
   * (`why` is `script`), the overlay's submissions are refused. @throws Error with a readable message when the selected page
   * does not answer.
   */
  hideOverlay: (why: OverlayHold) => Promise<() => void>;
  /**
   * The first ref of this browser. Refs are the numbers of elements in page snapshots. Each browser that a session starts
   * has its own range, so refs are never reused.
   */
  firstRef: number;
  /** @see PageDialogs.claim */
  claimDialogs: PageDialogs["claim"];
  /** The log of dialogs, downloads, requests and errors in the pages. */
  activity: PageActivity;
  /** Whether the session has a workspace, where downloads are stored and from which scripts upload. */
  hasWorkspace: boolean;
  /** Number of downloads that are not complete yet. */
  pendingDownloads: () => number;
  /** Number of new pages that are still being set up. Each becomes the selected page once it is set up. */
  openingPages: () => number;
  /** Selects another page of the session by its DevTools target id. */
  select: (targetId: string) => void;
  /**
   * Returns why the navigation with this DevTools loader id was refused; undefined if it was not. Keeps only recent reasons.
   */
  readRefusal: (loaderId: string) => string | undefined;
  /** Opens a page in a separate context of the browser. People do not see this page. @see openFreshContext */
  openContext: (options: FreshContextOptions) => Promise<FreshContext>;
};

/** A pointer move or press of a script of the agent. Coordinates are in CSS pixels of the page. */
export type ScriptPointer = { kind: "move" | "down"; x: number; y: number };

/** The listeners of one viewer of the live view: for its pictures, and for the pointer of a script of the agent. */
export type ViewListeners = {
  onFrame: (frame: ScreencastFrame) => void;
  onPointer?: (pointer: ScriptPointer) => void;
};

export type { ScreencastFrame };

/** Input of a person in the live view. Coordinates are in CSS pixels of the page. */
export type BrowserInput =
  | {
      type: "mouse";
      action: "move" | "down" | "up";
      x: number;
      y: number;
      button: "left" | "middle" | "right" | "none";
      clickCount: number;
      modifiers: number;
    }
  | { type: "wheel"; x: number; y: number; deltaX: number; deltaY: number; modifiers: number }
  | { type: "key"; action: "down" | "up"; key: string; code: string; modifiers: number; text?: string }
  | { type: "text"; text: string }
  | { type: "paste"; text: string };

/**
 * The outcome of a navigation: whether the page was reached. `reason` is also stored as the record's `lastError`, unless a
 * newer navigation began.
 */
export type NavigationOutcome = { landed: true; url: string } | { landed: false; reason: string };

/** The outcome of a person's request to open the browser: it runs, the session waits for a place, or the start failed. */
export type BrowserOpening = { state: "ready" } | { state: "waiting" } | { state: "failed"; reason: string };

/** A place for one running browser, lent to a caller that starts its own Chromium with these settings. */
export type BrowserLease = {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
  /** Loopback port of a proxy. The caller must start its Chromium so that this proxy is its only route to the network. */
  proxyPort: number;
  /** Lists the hosts that the proxy refused or could not reach, each with the reason. */
  listRefusals: () => { host: string; reason: string }[];
  /** Gives the place back and ends the proxy. */
  release: () => Promise<void>;
};

/**
 * The browsers of all sessions. A process has a limited number of places for running browsers. When all places are taken,
 * sessions that need a browser wait in order of arrival.
 */
export type BrowserService = {
  readStatus: (sessionId: string) => Promise<BrowserRecord>;
  /**
   * Selects a page. Resolves once the selection is stored. Then starts a browser if none runs, and navigates to the page.
   */
  retarget: (sessionId: string, url: string) => Promise<void>;
  /** Returns the session's browser. If none runs, starts one on the selected page. @throws Error with a readable message. */
  ensure: (sessionId: string, signal?: AbortSignal) => Promise<LiveBrowser>;
  /**
   * Starts the browser for a tool call if none runs, and keeps it from being ended for another session.
   * @returns a function that releases the browser. @throws the errors of `ensure`; the signal's reason when it fires.
   */
  hold: (sessionId: string, signal?: AbortSignal) => Promise<() => void>;
  /**
   * Waits in the same queue as the sessions for a place, in which the caller runs a Chromium of its own.
   * @throws Error with a readable message when no browser of this machine can be used or no place became free in time; the
   * signal's reason when the signal fires.
   */
  lease: (signal: AbortSignal) => Promise<BrowserLease>;
  /** Starts a spare browser for a session that is about to begin. The spare is closed if no session takes it in time. */
  warmUp: () => void;
  /** Starts the browser for a person if none runs; resolves once it runs or the session waits for a place. */
  open: (sessionId: string) => Promise<BrowserOpening>;
  /** Navigates to a page for a tool or a person. Only http(s) URLs and `about:blank` are allowed. */
  navigate: (sessionId: string, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** Goes back or forward in the page's history, or reloads the page. If no browser runs, only starts one. */
  history: (sessionId: string, action: "back" | "forward" | "reload") => Promise<BrowserOpening>;
  /**
   * Reads the page scripts of these sessions again, and runs them in the sessions' browsers that run in this process. A page
   * that is too busy to run its script now runs it with its next document.
   */
  refreshPageScripts: (sessionIds: readonly string[]) => Promise<void>;
  /** Marks the browser as used now, so that `reapIdle` does not end it. */
  touch: (sessionId: string) => void;
  /**
   * Subscribes to the live view. The latest frame is delivered immediately. Starts a browser only while a turn is open and a
   * place is free. Without a browser, clients can show the last picture (`readPicture`) instead.
   * @returns a function that ends the subscription.
   */
  watch: (sessionId: string, listeners: ViewListeners) => () => void;
  input: (sessionId: string, input: BrowserInput) => Promise<void>;
  /**
   * Returns the CSS cursor keyword that the page shows at a point in CSS pixels; `default` if unknown. Starts no browser.
   */
  readCursor: (sessionId: string, x: number, y: number) => Promise<string>;
  /** Returns the last picture of the session's page; undefined if none was taken. */
  readPicture: (sessionId: string) => Promise<PagePicture | undefined>;
  /** Returns when the last picture of each session's page was taken; sessions without a picture are left out. */
  readPictureTimes: (sessionIds: string[]) => Promise<Map<string, Date>>;
  /** Ends browsers that were not used for `BrowserServiceDeps.idleMs`. @returns how many were ended. */
  reapIdle: (now: Date) => Promise<number>;
  /** Ends the browser of one session, with all of the browser's processes. */
  closeSession: (sessionId: string) => Promise<void>;
  /** Returns whether browsers can run, how many run, and of which kind, for the health check and the startup banner. */
  describe: () => { available: boolean; live: number; detail: string };
  close: () => Promise<void>;
};
