import type { Browser, BrowserContext, CDPSession, Page } from "playwright";
import type { BrowserStatus } from "#db/schema/unions.ts";
import type { ScreencastFrame } from "#lib/client/frame-header.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";
import type { ElementAnchor, SoughtElements } from "./overlay/locate/find-elements.ts";
import type { MarkedPart, MarkedTarget } from "./overlay/locate/locate-target.ts";
import type { HideReason } from "./overlay/overlay-gate.ts";
import type { ShownDocument } from "./page/main-frame.ts";
import type { FreshContext, FreshContextOptions } from "./page/open-fresh-context.ts";
import type { PageActivity } from "./page/page-activity.ts";
import type { PageDialogs } from "./page/page-dialogs.ts";
import type { PendingDocuments } from "./page/pending-documents.ts";
import type { Devtools } from "./process/devtools-connection.ts";
import type { VisitorIdentity } from "./process/visitor-identity.ts";
import type { ActionOutcome, StageAction, StageState } from "./stage/stage-state.ts";
import type { PagePicture } from "./store/picture-store.ts";
import type { ControlAnswer, ControlRequest, ControlState } from "./view/control-state.ts";

/**
 * State of a session's browser, as the status endpoint returns it. Source: specification, Browser status; `wire.md`,
 * Browser.
 */
export type BrowserRecord = {
  status: BrowserStatus;
  sessionId: string | null;
  liveViewUrl: string | null;
  desiredUrl: string | null;
  lastNavigatedUrl: string | null;
  currentUrl: string | null;
  lastError: string | null;
  /** What a person is told if the running browser is not the session's first one. */
  restartNotice?: string | undefined;
};

/** The running browser of a session, as an interface for tools. */
export type LiveBrowser = {
  sessionId: string;
  /** Playwright's connection. Other sessions of the owner may use it, too. */
  browser: Browser;
  context: BrowserContext;
  /**
   * Returns the selected page, which people see and tools work on. A new popup becomes the selected page. When the
   * selected page closes, the previously selected page becomes the selected page again. If there is none, a new page
   * opens.
   */
  page: () => Page;
  /** Returns a DevTools session that is attached to the selected page. */
  cdp: () => Promise<CDPSession>;
  /** Opens another DevTools connection to the browser. Scripts of the agent use such connections. */
  openDevtools: Devtools["open"];
  /** Returns the DevTools target id of the selected page. */
  targetId: () => Promise<string>;
  /** Returns DevTools' ids of the document that the selected page shows. */
  shownDocument: () => ShownDocument;
  /**
   * Call this when a script of the agent has sent input to the page. Pass the move or press of the pointer as
   * `pointer`, so that viewers see it; pass undefined for all other input.
   */
  noteScriptInput: (pointer: ScriptPointer | undefined) => void;
  /**
   * Removes the annotation overlay from all pages until the returned function is called. If `why` is `script`, people
   * cannot point at it during this time; what they type still goes to an open comment.
   * @throws Error with a readable message when the selected page does not answer.
   */
  hideOverlay: (why: HideReason) => Promise<() => void>;
  /**
   * The lowest ref that page snapshots of this browser use. A ref is the number of an element in a snapshot. When a
   * session's browser is started again, the new browser uses higher refs, so that no ref of the session is used twice.
   */
  firstRef: number;
  /** Lets a script answer the dialogs that open while the script listens for dialogs. @see PageDialogs.claim */
  claimDialogs: PageDialogs["claim"];
  /** The log of opened and closed pages, and of dialogs, downloads, requests and errors in the pages. */
  activity: PageActivity;
  /** The documents that the browser's pages wait for. */
  documents: PendingDocuments;
  /** Whether the session has a workspace. Downloads are stored in the workspace, and scripts upload files from it. */
  hasWorkspace: boolean;
  /** Returns the number of downloads in progress. */
  pendingDownloads: () => number;
  /** Returns the number of new pages that are still being set up. Each becomes the selected page after its setup. */
  openingPages: () => number;
  /** Selects the page with this DevTools target id. Has no effect if the browser has no such page. */
  select: (targetId: string) => void;
  /**
   * Returns why the navigation with this DevTools loader id was refused. Undefined if the navigation was not refused,
   * or if its refusal is no longer stored. Only the latest refusals are stored.
   */
  readRefusal: (loaderId: string) => string | undefined;
  /** Opens a page in a separate context of the browser. People do not see this page. @see openFreshContext */
  openContext: (options: FreshContextOptions) => Promise<FreshContext>;
  /** Whether the session still has this browser. Its Chromium may run longer, for other sessions. */
  isOpen: () => boolean;
};

/** A move or press of the pointer by a script of the agent. Coordinates are in CSS pixels of the page. */
export type ScriptPointer = { kind: "move" | "down"; x: number; y: number };

/**
 * The listeners of one viewer of the live view. `onPointer` gets the pointer actions of the agent's scripts. A viewer with
 * `onStage` shows people the controls that wait for them, so pages wait for the person who has control.
 */
export type ViewListeners = {
  onFrame: (frame: ScreencastFrame) => void;
  onPointer?: (pointer: ScriptPointer) => void;
  onStage?: (state: StageState) => void;
};

export type { ScreencastFrame };

/**
 * Input of a person in the live view. Coordinates are CSS pixels of the page's picture. `commands` of a key are editing
 * commands of Chromium, which it carries out instead of what the key does by itself. `points` of a touch are the fingers
 * that are on the page after the action; of the action `end`, those that stay. `compose` shows the text that an input
 * method is composing; an empty text removes it, and `text` replaces it.
 */
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
  | {
      type: "key";
      action: "down" | "up";
      key: string;
      code: string;
      modifiers: number;
      text?: string;
      isRepeat?: boolean;
      commands?: readonly EditingCommand[];
    }
  | {
      type: "touch";
      action: "start" | "move" | "end" | "cancel";
      points: readonly { id: number; x: number; y: number }[];
      modifiers: number;
    }
  | { type: "text"; text: string }
  | { type: "compose"; text: string; selectionStart: number; selectionEnd: number }
  | { type: "paste"; text: string };

/** Decides, just before an input goes to the page, whether it may. The lease of the person may have ended. */
export type InputGate = (input: BrowserInput) => boolean;

/** Editing commands of Chromium for which a keyboard of Linux has no key. */
export const EDITING_COMMANDS = ["DeleteToBeginningOfLine", "DeleteToEndOfLine"] as const;
type EditingCommand = (typeof EDITING_COMMANDS)[number];

/** What a person copies out of a page. `html` is null if the selection has no formatting. */
export type CopiedContent = { text: string; html: string | null };

/** An item of a paste: text, or a file with its name. */
export type PastedItem =
  | { kind: "text"; type: "text/plain" | "text/html"; text: string }
  | { kind: "file"; type: string; name: string; bytes: Uint8Array };

/**
 * The size of a session's page in CSS pixels, and how many pixels its pictures have for a CSS pixel. A size of null means
 * that the size stays as it is.
 */
export type ViewportChange = { size: { width: number; height: number } | null; scale: number };

/**
 * The outcome of a navigation. `landed` is true if the page was reached. The browser record stores `reason` as
 * `lastError`, unless a newer navigation has begun.
 */
export type NavigationOutcome = { landed: true; url: string } | { landed: false; reason: string };

/** Outcome of `open` or `history`: the browser runs, the session waits for a place, or the start failed. */
export type BrowserOpening = { state: "ready" } | { state: "waiting" } | { state: "failed"; reason: string };

/**
 * Permission for a caller to run a Chromium of its own with these settings. The lease takes one of the places for
 * running browsers until `release` is called.
 */
export type BrowserLease = {
  executablePath: string;
  args: string[];
  env: Record<string, string>;
  /** How the caller's Chromium has to introduce itself to pages. Null for Chromium's own way. */
  identity: VisitorIdentity | null;
  /** Loopback port of a proxy. The proxy must be the only route of the caller's Chromium to the network. */
  proxyPort: number;
  /**
   * The browser host on whose machine the Chromium and the proxy are, if that is another machine than the caller's and
   * the session's box.
   */
  hostId?: string;
  /** Lists the hosts that the proxy refused or could not reach, each with the reason. */
  listRefusals: () => Promise<{ host: string; reason: string }[]>;
  /**
   * Ends the lease and stops the proxy. If `isKept`, a host in a session's box or on another machine keeps both for a
   * while, for a lease with the same id.
   */
  release: (isKept?: boolean) => Promise<void>;
};

/** Who leases: the session, and an id of the lease. A lease is found again by its id after the connection to a host ended. */
export type LeaseTenant = { sessionId: string; id: string };

/**
 * The browsers of a browser host. A host has a limited number of places for running browsers. When all places are taken,
 * sessions that need a browser wait in order of arrival.
 */
export type HostBrowsers = {
  /**
   * Returns the session's browser. If none runs, starts one. The new browser opens the session's desired page
   * (`desiredUrl`). If an earlier browser has reached that page, or if it cannot be opened, the new browser opens the
   * page that the previous browser showed last.
   * @throws Error with a readable message when no browser can be started; the signal's reason when the signal fires.
   */
  ensure: (sessionId: string, signal?: AbortSignal) => Promise<LiveBrowser>;
  /**
   * Starts the session's browser for a tool call if none runs. Until the returned function is called, the service
   * ends the browser neither because the browser is idle nor to make room for another session.
   * @returns a function that releases the browser. @throws the errors of `ensure`; the signal's reason when the signal
   * fires.
   */
  hold: (sessionId: string, signal?: AbortSignal) => Promise<() => void>;
  /**
   * Waits in the sessions' queue for a place, so that the caller can run a Chromium of its own.
   * @throws Error with a readable message when the service runs no browsers on this machine, or when no place becomes
   * free in time; the signal's reason when the signal fires.
   */
  lease: (signal: AbortSignal) => Promise<BrowserLease>;
  /**
   * Starts a spare browser for a session that is about to begin, if the service keeps a spare and none runs. The spare
   * is closed if no session takes it in time.
   */
  warmUp: () => void;
  /**
   * Starts the browser for a person if none runs. Resolves when the browser runs, when the session has to wait for a
   * place, or when the start has failed.
   */
  open: (sessionId: string) => Promise<BrowserOpening>;
  /**
   * Opens the page of a retarget (a client's request to show another page), unless a newer retarget was handled already.
   * Starts a browser if none runs. `retargets` is the number of the retarget.
   */
  goTo: (sessionId: string, url: string, retargets: number) => Promise<void>;
  /**
   * Navigates to a page for a tool or a person. If no browser runs, starts one first. Only http(s) URLs and
   * `about:blank` are allowed; for any other URL, `landed` is false. @throws the errors of `ensure`.
   */
  navigate: (sessionId: string, url: string, signal?: AbortSignal) => Promise<NavigationOutcome>;
  /** Goes back or forward in the page's history, or reloads the page. If no browser runs, starts one instead. */
  history: (sessionId: string, action: "back" | "forward" | "reload") => Promise<BrowserOpening>;
  /**
   * Reads the page scripts of these sessions again, and runs each in the session's browser if this host runs that
   * browser. A page that is too busy runs the script with its next document.
   */
  refreshPageScripts: (sessionIds: readonly string[]) => Promise<void>;
  /**
   * Waits until everything that the session's browser has reported so far is stored, if this host runs the browser.
   */
  settle: (sessionId: string) => Promise<void>;
  /**
   * Returns a sentence for the model if the session's browser was started again since the last call. Returns it once.
   * Undefined if it was not.
   */
  takeRestartNote: (sessionId: string) => string | undefined;
  /**
   * Returns a sentence for the model if people have changed the size of the session's page since the last call. Returns
   * it once. Undefined if the size is the one that the model was told.
   */
  takeViewportNote: (sessionId: string) => string | undefined;
  /** Returns why the last navigation failed; null if it did not fail. */
  readLastError: (sessionId: string) => Promise<string | null>;
  /** Marks the browser as used now. `reapIdle` can then end it only after a further `BrowserServiceDeps.idleMs`. */
  touch: (sessionId: string) => void;
  /**
   * Subscribes to the live view. If other viewers already watch, delivers the latest frame immediately. Starts a
   * browser only if none runs, the session has an open turn of the agent and a place is free. Without a browser,
   * clients can show the last picture (`readPicture`) instead.
   * @returns a function that ends the subscription.
   */
  watch: (sessionId: string, listeners: ViewListeners) => () => void;
  /**
   * Passes input of a person to the page, or to the overlay in it.
   * @param mayPass is asked just before an input goes to the page. If it returns false, the input is dropped.
   */
  input: (sessionId: string, input: BrowserInput, mayPass?: InputGate) => Promise<void>;
  /** Does what a person wants, for example answers a dialog. The caller has checked that the person has control. */
  act: (sessionId: string, action: StageAction) => Promise<ActionOutcome>;
  /** Returns the name of the field of the page that has the focus, without its value. Null if none has, or no browser runs. */
  readField: (sessionId: string) => Promise<string | null>;
  /** Returns the address of the page. Null if no browser runs. */
  addressOf: (sessionId: string) => string | null;
  /**
   * Copies or cuts what is selected in the page, for a person who pressed the keys for it. The page gets the events that
   * belong to it, and decides what is copied. The clipboard of the Chromium is not involved, because sessions share it.
   * @returns null if the page offers nothing to copy, or if no browser runs.
   */
  copy: (sessionId: string, action: "copy" | "cut", mayPass?: InputGate) => Promise<CopiedContent | null>;
  /**
   * Pastes at the focus of the page: a paste event with all items and, if the page does not handle it, the text.
   * @returns a refusal if no browser runs, or if the page does not answer.
   */
  paste: (sessionId: string, items: readonly PastedItem[], mayPass?: InputGate) => Promise<ActionOutcome>;
  /** Changes the size of the session's page or the sharpness of its pictures. Has no effect if no browser runs. */
  setViewport: (sessionId: string, change: ViewportChange) => Promise<void>;
  /**
   * Returns the CSS cursor keyword that the page shows at a point, given in CSS pixels. Returns `default` if the
   * keyword cannot be read, for example because no browser runs or the page does not answer.
   */
  readCursor: (sessionId: string, x: number, y: number) => Promise<string>;
  /**
   * Looks for annotated elements on the selected page. Null if no browser runs, or the page does not answer. Starts no
   * browser.
   */
  findElements: (sessionId: string, anchors: readonly ElementAnchor[]) => Promise<SoughtElements | null>;
  /**
   * Finds what a person marks on the picture of the selected page, without input to the page. Null if there is nothing, no
   * browser runs, or the page does not answer. Starts no browser.
   */
  locateTarget: (sessionId: string, part: MarkedPart) => Promise<MarkedTarget | null>;
  /**
   * Takes a picture of the selected page around each box, as JPEG. Null for a box that is not in view. Null in all if no
   * browser runs, or the page does not answer. Starts no browser.
   */
  captureBoxes: (sessionId: string, boxes: readonly Box[]) => Promise<(Uint8Array | null)[] | null>;
  /**
   * Ends browsers that were not used for `BrowserServiceDeps.idleMs` or longer. Browsers of parked (paused) turns and
   * browsers that a working sub-agent shares keep running. Also records the end of the browsers among `recorded` that
   * do not run here any more.
   * @param recorded the sessions whose browser is recorded as running at this host.
   * @returns the number of browsers ended because they were idle.
   */
  reapIdle: (recorded: readonly string[]) => Promise<number>;
  /**
   * Ends the browser of one session, with all of the browser's processes. If the session waits for a place, stops the
   * wait.
   */
  closeSession: (sessionId: string) => Promise<void>;
  /** Lists the sessions whose browser runs, starts or waits for a place. */
  listLive: () => string[];
  /** Lists the sessions whose browser runs. Each is recorded as starting or running at this host. */
  listUp: () => string[];
  /**
   * Describes the browsers for the health check and the startup banner: whether they can run, how many run, and
   * (`detail`) which Chromium they use or why none can run.
   */
  describe: () => { available: boolean; live: number; detail: string };
  close: () => Promise<void>;
};

/** The places of one browser host, for sessions that wait at several hosts. */
export type HostPlaces = {
  /** If the session waits for a place, ends the wait with an ElsewhereError: another host starts its browser. */
  handOver: (sessionId: string) => void;
  /** Gives places to sessions that wait at other hosts. @returns how many of `count` sessions can get a place. */
  offerPlaces: (count: number) => Promise<number>;
};

/** The browsers of all sessions, for a process of the service. They run at one or several browser hosts. */
export type BrowserService = Omit<
  HostBrowsers,
  | "ensure"
  | "hold"
  | "lease"
  | "goTo"
  | "input"
  | "copy"
  | "paste"
  | "setViewport"
  | "act"
  | "readField"
  | "addressOf"
  | "takeRestartNote"
  | "takeViewportNote"
  | "readLastError"
  | "reapIdle"
  | "listLive"
  | "listUp"
> & {
  /** Passes input to the session's host, which drops it if the connection does not have control. */
  drive: (sessionId: string, connectionId: string, input: BrowserInput) => Promise<void>;
  /** Copies or cuts, see {@link HostBrowsers.copy}. Null also if the connection does not have control. */
  copy: (sessionId: string, connectionId: string, action: "copy" | "cut") => Promise<CopiedContent | null>;
  /** Pastes, see {@link HostBrowsers.paste}. The host refuses it if the connection does not have control. */
  paste: (sessionId: string, connectionId: string, items: readonly PastedItem[]) => Promise<ActionOutcome>;
  /** See {@link HostBrowsers.setViewport}. Has no effect if the connection does not have control. */
  setViewport: (sessionId: string, connectionId: string, change: ViewportChange) => Promise<void>;
  /** Does what a person wants, at the session's host, which refuses it if the connection does not have control. */
  act: (sessionId: string, connectionId: string, action: StageAction) => Promise<ActionOutcome>;
  /** Carries out what a connection wants of the session's control, at the session's host. */
  control: (sessionId: string, request: ControlRequest) => Promise<ControlAnswer>;
  /** Asks the session's host who has control. Undefined if the session has no host now. */
  readControl: (sessionId: string) => Promise<ControlState | undefined>;
  /**
   * Lets the session's host read whether the browser is handed over to people, see `ControlState.isPrivate`. Resolves when
   * this process knows it, too. A browser that starts later reads it by itself.
   */
  noteHandover: (sessionId: string) => Promise<void>;
  /** Leases a place, see {@link HostBrowsers.lease}. */
  lease: (signal: AbortSignal, tenant: LeaseTenant) => Promise<BrowserLease>;
  readStatus: (sessionId: string) => Promise<BrowserRecord>;
  /**
   * Stores which page the browser is to show. Resolves when this is stored, and does the rest in the background: starts
   * a browser if none runs, and navigates to the page.
   */
  retarget: (sessionId: string, url: string) => Promise<void>;
  /** Returns the last picture of the session's page. Undefined if no picture was taken. */
  readPicture: (sessionId: string) => Promise<PagePicture | undefined>;
  /** Returns the time of the last picture of each session's page. Sessions without a picture are left out. */
  readPictureTimes: (sessionIds: string[]) => Promise<Map<string, Date>>;
  /**
   * Ends idle browsers of all hosts, see {@link HostBrowsers.reapIdle}, and records the end of the browsers of hosts
   * that are lost.
   * @returns the number of browsers ended because they were idle.
   */
  reapIdle: () => Promise<number>;
};
