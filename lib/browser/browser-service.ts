import type { Browser, BrowserContext, CDPSession, Page } from "playwright";
import type { BrowserStatus } from "#db/schema/unions.ts";
import type { ScreencastFrame } from "./frame-header.ts";
import type { OverlayHold } from "./overlay/overlay-gate.ts";
import type { PageDialogs } from "./page-dialogs.ts";

/** The browser of a session as its status endpoint shows it. Source: specification, Browser status; `currentUrl`: `wire.md`. */
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

/** The browsers of all sessions. */
export type BrowserService = {
  readStatus: (sessionId: string) => Promise<BrowserRecord>;
  /** Selects a page and starts going there, provisioning a browser where none runs. Resolves once that is stored, not landed. */
  retarget: (sessionId: string, url: string) => Promise<void>;
  /** The session's browser, provisioned on the selected page where none runs. @throws Error with a sentence when it cannot start. */
  ensure: (sessionId: string) => Promise<LiveBrowser>;
  /** Goes to a page on behalf of a tool or a person; http(s) and about:blank only. */
  navigate: (sessionId: string, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  history: (sessionId: string, action: "back" | "forward" | "reload") => Promise<void>;
  /** Marks the browser as used now, and so keeps it from being reaped. */
  touch: (sessionId: string) => void;
  /** Follows the live view, provisioning a browser where none runs; the last frame comes at once. Returns the way to stop. */
  watch: (sessionId: string, listeners: ViewListeners) => () => void;
  input: (sessionId: string, input: BrowserInput) => Promise<void>;
  /** The CSS cursor keyword that the page shows at a point in CSS pixels; `default` where nothing is known. Starts no browser. */
  readCursor: (sessionId: string, x: number, y: number) => Promise<string>;
  /** Ends browsers that nobody used for the idle time. @returns how many. */
  reapIdle: (now: Date) => Promise<number>;
  /** Ends the browser of one session and its processes. */
  closeSession: (sessionId: string) => Promise<void>;
  /** How many run, and what they are, for the health check and the banner. */
  describe: () => { available: boolean; live: number; detail: string };
  close: () => Promise<void>;
};
