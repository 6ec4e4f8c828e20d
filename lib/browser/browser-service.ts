import type { Browser, BrowserContext, CDPSession, Page } from "playwright";
import type { BrowserStatus } from "#db/schema/unions.ts";
import type { ScreencastFrame } from "#lib/client/frame-header.ts";
import type { OverlayHold } from "./overlay/overlay-gate.ts";
import type { PageDialogs } from "./page/page-dialogs.ts";
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
  /** The page people see and tools work on; follows a popup that took the foreground. */
  page: () => Page;
  /** A DevTools session attached to that page. */
  cdp: () => Promise<CDPSession>;
  /** WebSocket URL of the browser's DevTools endpoint, for our own relay only. */
  devtoolsUrl: string;
  /** DevTools target id of the session's page. */
  targetId: () => Promise<string>;
  /** A script of the agent moved or pressed the pointer, or, without a pointer, used the page's keys. */
  noteScriptInput: (pointer: ScriptPointer | undefined) => void;
  /**
   * Takes the annotation overlay out of all pages until the returned function is called. During a `script` hold,
   * submissions are refused. @throws Error with a sentence when the selected page does not answer.
   */
  hideOverlay: (why: OverlayHold) => Promise<() => void>;
  /** @see PageDialogs.claim */
  claimDialogs: PageDialogs["claim"];
  /** Why the navigation of a DevTools loader id was refused; undefined for other and for long past ones. */
  readRefusal: (loaderId: string) => string | undefined;
};

/** Where a script of the agent has its pointer; coordinates in CSS pixels of the page. */
export type ScriptPointer = { kind: "move" | "down"; x: number; y: number };

/** What whoever follows the live view is told. */
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

/** A navigation that did not land: the reason is what `lastError` says. */
export type NavigationOutcome = { landed: true; url: string } | { landed: false; reason: string };

/** What a person's wish for the live page came to: it is up, the session waits for a place, or no browser can be had. */
export type BrowserOpening = { state: "ready" } | { state: "waiting" } | { state: "failed"; reason: string };

/** The browsers of all sessions. Where all places are taken, a session that needs a browser waits in order of arrival. */
export type BrowserService = {
  readStatus: (sessionId: string) => Promise<BrowserRecord>;
  /** Selects a page and starts going there, provisioning a browser where none runs. Resolves once that is stored, not landed. */
  retarget: (sessionId: string, url: string) => Promise<void>;
  /** The session's browser, provisioned on the selected page where none runs. @throws Error with a sentence when it cannot start. */
  ensure: (sessionId: string, signal?: AbortSignal) => Promise<LiveBrowser>;
  /**
   * Provisions the browser for a tool call, and keeps it from being ended for another session until it is released.
   * @returns the way to release it. @throws as `ensure`; the signal's reason when the call stops while it waits.
   */
  hold: (sessionId: string, signal?: AbortSignal) => Promise<() => void>;
  /** Starts the browser for a person, where none runs; resolves once it is up or the session waits for a place. */
  open: (sessionId: string) => Promise<BrowserOpening>;
  /** Goes to a page on behalf of a tool or a person; http(s) and about:blank only. */
  navigate: (sessionId: string, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** Moves through the history of the page; where no browser runs, it only starts one. */
  history: (sessionId: string, action: "back" | "forward" | "reload") => Promise<BrowserOpening>;
  /** Marks the browser as used now, and so keeps it from being reaped. */
  touch: (sessionId: string) => void;
  /**
   * Follows the live view; the last frame comes at once. While a turn is open and a place is free, it provisions a browser
   * where none runs; a finished session shows its last picture instead. Returns the way to stop.
   */
  watch: (sessionId: string, listeners: ViewListeners) => () => void;
  input: (sessionId: string, input: BrowserInput) => Promise<void>;
  /** The CSS cursor keyword that the page shows at a point in CSS pixels; `default` where nothing is known. Starts no browser. */
  readCursor: (sessionId: string, x: number, y: number) => Promise<string>;
  /** What the session's page looked like last; undefined where no picture was kept. */
  readPicture: (sessionId: string) => Promise<PagePicture | undefined>;
  /** When that picture was taken; null where there is none. */
  readPictureTime: (sessionId: string) => Promise<Date | null>;
  /** Ends browsers that nobody used for the idle time. @returns how many. */
  reapIdle: (now: Date) => Promise<number>;
  /** Ends the browser of one session and its processes. */
  closeSession: (sessionId: string) => Promise<void>;
  /** How many run, and what they are, for the health check and the banner. */
  describe: () => { available: boolean; live: number; detail: string };
  close: () => Promise<void>;
};
