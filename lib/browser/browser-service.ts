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

/** A running browser with the session's page. */
export type LiveBrowser = {
  sessionId: string;
  browser: Browser;
  context: BrowserContext;
  /** The selected page, which people see and tools work on; a popup that comes to the foreground replaces it. */
  page: () => Page;
  /** A DevTools session attached to that page. */
  cdp: () => Promise<CDPSession>;
  /** Opens a connection to the browser's DevTools, for the service's own relay only. */
  openDevtools: Devtools["open"];
  /** DevTools target id of the session's page. */
  targetId: () => Promise<string>;
  /** Reports input of a script of the agent: a pointer move or press, or (`undefined`) other input. */
  noteScriptInput: (pointer: ScriptPointer | undefined) => void;
  /**
   * Removes the annotation overlay from all pages until the returned function is called. During a `script` hold,
   * submissions are refused. @throws Error with a sentence when the selected page does not answer.
   */
  hideOverlay: (why: OverlayHold) => Promise<() => void>;
  /** The number of this browser's first ref. Each browser of a session has its own range, so refs are never reused. */
  firstRef: number;
  /** @see PageDialogs.claim */
  claimDialogs: PageDialogs["claim"];
  /** The log of dialogs, downloads, requests and errors in the pages. */
  activity: PageActivity;
  /** Whether the session has a workspace, where downloads are stored and from which scripts upload. */
  hasWorkspace: boolean;
  /** Downloads that are not complete yet. */
  pendingDownloads: () => number;
  /** Number of pages that have just opened and are not selected yet; the last of them becomes `page()`. */
  openingPages: () => number;
  /** Selects another page of the session by its DevTools target id. */
  select: (targetId: string) => void;
  /** Returns why the navigation with a DevTools loader id was refused; undefined if it was not, or was long ago. */
  readRefusal: (loaderId: string) => string | undefined;
  /** Opens a page in a separate context of the browser, which people do not see. @see openFreshContext */
  openContext: (options: FreshContextOptions) => Promise<FreshContext>;
};

/** The pointer of a script of the agent; coordinates in CSS pixels of the page. */
export type ScriptPointer = { kind: "move" | "down"; x: number; y: number };

/** The listeners of a viewer of the live view. */
export type ViewListeners = {
  onFrame: (frame: ScreencastFrame) => void;
  onPointer?: (pointer: ScriptPointer) => void;
};

export type { ScreencastFrame };

/** What a person does in the live view; coordinates in CSS pixels of the page. */
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

/** The outcome of a navigation. `reason` is the value of `lastError`. */
export type NavigationOutcome = { landed: true; url: string } | { landed: false; reason: string };

/** The outcome of a person's request for the live page: the browser runs, waits for a place, or failed to start. */
export type BrowserOpening = { state: "ready" } | { state: "waiting" } | { state: "failed"; reason: string };

/** One of this process's browser places, lent to a caller that starts its own Chromium with these settings. */
export type BrowserLease = {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
  /** Loopback port of the proxy, which must be the Chromium's only route to the network. */
  proxyPort: number;
  /** Lists the hosts that the proxy refused or could not reach, each with the reason. */
  listRefusals: () => { host: string; reason: string }[];
  /** Gives the place back and ends the proxy. */
  release: () => Promise<void>;
};

/** The browsers of all sessions. When all places are taken, sessions that need a browser wait in order of arrival. */
export type BrowserService = {
  readStatus: (sessionId: string) => Promise<BrowserRecord>;
  /** Selects a page, starts a browser if none runs, and navigates it there. Resolves once the selection is stored. */
  retarget: (sessionId: string, url: string) => Promise<void>;
  /** Returns the session's browser, started on the selected page if none runs. @throws Error with a sentence. */
  ensure: (sessionId: string, signal?: AbortSignal) => Promise<LiveBrowser>;
  /**
   * Starts the browser for a tool call if none runs, and keeps it from being ended for another session.
   * @returns releases the browser. @throws as `ensure`; the signal's reason when the call is stopped while it waits.
   */
  hold: (sessionId: string, signal?: AbortSignal) => Promise<() => void>;
  /**
   * Waits for a place, in line with the sessions, for a Chromium that the caller starts and ends.
   * @throws Error with a sentence when browsers do not run on this machine; the signal's reason.
   */
  lease: (signal: AbortSignal) => Promise<BrowserLease>;
  /** Starts a spare browser for a session that is about to begin; it is closed if no session takes it. */
  warmUp: () => void;
  /** Starts the browser for a person if none runs; resolves once it runs or the session waits for a place. */
  open: (sessionId: string) => Promise<BrowserOpening>;
  /** Goes to a page for a tool or a person; http(s) and about:blank only. */
  navigate: (sessionId: string, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** Moves through the history of the page; if no browser runs, only starts one. */
  history: (sessionId: string, action: "back" | "forward" | "reload") => Promise<BrowserOpening>;
  /**
   * Reloads the service's page script of these sessions and runs it in their browsers of this process. A page that cannot
   * run it now gets it with its next document.
   */
  refreshPageScripts: (sessionIds: readonly string[]) => Promise<void>;
  /** Marks the browser as used now, so that it is not reaped. */
  touch: (sessionId: string) => void;
  /**
   * Follows the live view; the last frame is delivered immediately. Starts a browser only while a turn is open and a place
   * is free; a finished session shows its last picture instead. @returns a function that stops following.
   */
  watch: (sessionId: string, listeners: ViewListeners) => () => void;
  input: (sessionId: string, input: BrowserInput) => Promise<void>;
  /** The CSS cursor keyword that the page shows at a point in CSS pixels; `default` if it is unknown. Starts no browser. */
  readCursor: (sessionId: string, x: number, y: number) => Promise<string>;
  /** Returns the last picture of the session's page; undefined if none was taken. */
  readPicture: (sessionId: string) => Promise<PagePicture | undefined>;
  /** Returns when the last picture of each session's page was taken; sessions without a picture are left out. */
  readPictureTimes: (sessionIds: string[]) => Promise<Map<string, Date>>;
  /** Ends browsers that were not used for the idle time. @returns how many. */
  reapIdle: (now: Date) => Promise<number>;
  /** Ends the browser of one session and its processes. */
  closeSession: (sessionId: string) => Promise<void>;
  /** Returns how many browsers run, and of which kind, for the health check and the startup banner. */
  describe: () => { available: boolean; live: number; detail: string };
  close: () => Promise<void>;
};
