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
  /** The page that people see and tools work on; a popup that took the foreground replaces it. */
  page: () => Page;
  /** A DevTools session attached to that page. */
  cdp: () => Promise<CDPSession>;
  /** Opens a connection to the browser's DevTools, for the service's own relay only. */
  openDevtools: Devtools["open"];
  /** DevTools target id of the session's page. */
  targetId: () => Promise<string>;
  /** A script of the agent moved or pressed the pointer, or, without a pointer, used the page's keys. */
  noteScriptInput: (pointer: ScriptPointer | undefined) => void;
  /**
   * Removes the annotation overlay from all pages until the returned function is called. During a `script` hold,
   * submissions are refused. @throws Error with a sentence when the selected page does not answer.
   */
  hideOverlay: (why: OverlayHold) => Promise<() => void>;
  /** The number of the first ref that is given out in this browser: no ref of an earlier browser of the session names two elements. */
  firstRef: number;
  /** @see PageDialogs.claim */
  claimDialogs: PageDialogs["claim"];
  /** What happened in the pages. */
  activity: PageActivity;
  /** Whether the session may have files: its downloads are stored, and scripts upload from there. */
  hasWorkspace: boolean;
  /** Downloads that are not complete yet. */
  pendingDownloads: () => number;
  /** Pages that have just opened: the last one will be `page()`. */
  openingPages: () => number;
  /** Makes another page of the session the one that people see and tools work on; by DevTools target id. */
  select: (targetId: string) => void;
  /** Why the navigation of a DevTools loader id was refused; undefined for other navigations and for old ones. */
  readRefusal: (loaderId: string) => string | undefined;
  /** Opens a page in another context of the browser, which people do not see. @see openFreshContext */
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

/** The outcome of a person's request for the live page: it is up, the session waits for a place, or the start failed. */
export type BrowserOpening = { state: "ready" } | { state: "waiting" } | { state: "failed"; reason: string };

/** What a Chromium needs that somebody else starts, in the place of one of this process's browsers. */
export type BrowserLease = {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
  /** Loopback port of the proxy that is to be its only way to the network. */
  proxyPort: number;
  /** The hosts that the proxy did not reach, each with the reason. */
  listRefusals: () => { host: string; reason: string }[];
  /** Gives the place back and ends the proxy. */
  release: () => Promise<void>;
};

/** The browsers of all sessions. When all places are taken, sessions that need a browser wait in order of arrival. */
export type BrowserService = {
  readStatus: (sessionId: string) => Promise<BrowserRecord>;
  /** Selects a page and starts a navigation to it, and a browser if none runs. Resolves once the selection is stored. */
  retarget: (sessionId: string, url: string) => Promise<void>;
  /** The session's browser, started on the selected page if none runs. @throws Error with a sentence when it cannot start. */
  ensure: (sessionId: string, signal?: AbortSignal) => Promise<LiveBrowser>;
  /**
   * Starts the browser for a tool call if none runs, and keeps it from being ended for another session.
   * @returns releases the browser. @throws as `ensure`; the signal's reason when the call is stopped while it waits.
   */
  hold: (sessionId: string, signal?: AbortSignal) => Promise<() => void>;
  /**
   * Waits for a place, in line with the sessions, for a Chromium that the caller starts and ends.
   * @throws Error with a sentence where browsers do not run on this machine; the signal's reason.
   */
  lease: (signal: AbortSignal) => Promise<BrowserLease>;
  /** Starts a browser ahead, for whoever is about to start a session; it is given back when nobody does. */
  warmUp: () => void;
  /** Starts the browser for a person if none runs; resolves once it is up or the session waits for a place. */
  open: (sessionId: string) => Promise<BrowserOpening>;
  /** Goes to a page for a tool or a person; http(s) and about:blank only. */
  navigate: (sessionId: string, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** Moves through the history of the page; if no browser runs, only starts one. */
  history: (sessionId: string, action: "back" | "forward" | "reload") => Promise<BrowserOpening>;
  /**
   * Reads the script of these sessions' pages again, and runs it in the browsers of this process that are up. A page that
   * cannot run it now gets it with its next document.
   */
  refreshPageScripts: (sessionIds: readonly string[]) => Promise<void>;
  /** Marks the browser as used now, so that it is not reaped. */
  touch: (sessionId: string) => void;
  /**
   * Follows the live view; the last frame comes at once. Starts a browser only while a turn is open and a place is free;
   * a finished session shows its last picture instead. @returns stops following.
   */
  watch: (sessionId: string, listeners: ViewListeners) => () => void;
  input: (sessionId: string, input: BrowserInput) => Promise<void>;
  /** The CSS cursor keyword that the page shows at a point in CSS pixels; `default` if it is unknown. Starts no browser. */
  readCursor: (sessionId: string, x: number, y: number) => Promise<string>;
  /** The last picture of the session's page; undefined if there is none. */
  readPicture: (sessionId: string) => Promise<PagePicture | undefined>;
  /** When the last pictures of these sessions' pages were taken; nothing for a session without one. */
  readPictureTimes: (sessionIds: string[]) => Promise<Map<string, Date>>;
  /** Ends browsers that were not used for the idle time. @returns how many. */
  reapIdle: (now: Date) => Promise<number>;
  /** Ends the browser of one session and its processes. */
  closeSession: (sessionId: string) => Promise<void>;
  /** How many browsers run, and of which kind, for the health check and the banner. */
  describe: () => { available: boolean; live: number; detail: string };
  close: () => Promise<void>;
};
