import type { Logger } from "#lib/log/logger.ts";
import type { BrowserRow } from "../../browser-records.ts";
import type { BrowserInput, InputGate } from "../../browser-service.ts";
import type { OpenBrowser } from "../../page/open-browser.ts";
import type { BrowserEvent } from "../../store/browser-machine.ts";
import type { PageClipboard } from "../../view/page-clipboard.ts";
import type { PlaceTicket } from "../browser-places.ts";
import type { StoredRecord } from "../browser-record.ts";
import type { BrowserStart } from "../browser-start.ts";

/** A session's running browser, with the objects that end together with it. */
export type RunningBrowser = {
  browser: OpenBrowser;
  place: PlaceTicket;
  /** Sends the keyboard and mouse input of people to the selected page, or to its overlay. */
  inputQueue: { push: (input: BrowserInput, mayPass?: InputGate) => Promise<void> } | undefined;
  /** Copies out of the selected page, and pastes into it. */
  clipboard: PageClipboard | undefined;
  /** Resolves when the browser's first navigation has ended. Never rejects. */
  landing: Promise<void>;
  /**
   * How often the service has begun to start a browser for the session, including this start and failed starts. 0 until
   * the browser is recorded as running.
   */
  starts: number;
  /** Whether an earlier browser of the session has shown a page. */
  isRestart: boolean;
  /** Why the earlier browser ended, if it failed. */
  restartReason: string | undefined;
  /** Whether the browser process or the connection to it ended unexpectedly. A crash of a page does not count. */
  isLost: boolean;
};

/**
 * The state of the session's browser. A browser that ends unexpectedly passes through the same states as a closed one.
 */
export type BrowserState =
  | { kind: "none" }
  /**
   * The start waits until the previous browser has ended, then for one of the limited places for running browsers, then
   * for the browser process.
   */
  | { kind: "starting"; start: BrowserStart<RunningBrowser> }
  /** The browser runs, but this is not recorded yet. Callers wait until it is recorded. */
  | { kind: "recording"; start: BrowserStart<RunningBrowser>; running: RunningBrowser }
  | { kind: "up"; running: RunningBrowser }
  /** `ended` resolves when the end is recorded. The next start waits for `ended`. */
  | { kind: "ending"; ended: Promise<void> };

/** What the start and the end of a session's browser need. */
export type LifecycleDeps = {
  sessionId: string;
  record: StoredRecord;
  logger: Logger;
  requestPlace: (onMove: (position: number) => void) => PlaceTicket;
  /** How long a caller waits for a place at most, and the error message for a caller that has waited that long. */
  placeWait: { waitMs: number; explain: () => string };
  /** Takes a browser from the pool. @throws Error with a readable message. */
  take: () => Promise<OpenBrowser>;
  /** Connects the events and the input of a browser from the pool. The browser may have ended already. */
  onTaken: (running: RunningBrowser) => void;
  /** Navigates a browser to its first page, after the browser was recorded as running. Never rejects. */
  land: (browser: OpenBrowser, row: BrowserRow) => Promise<void>;
  /** Called when the browser no longer belongs to the session. */
  onReleased: () => void;
  onEnding: OnEnding;
};

/** Called before the rest of a browser is closed, with the event that ends it. Never rejects. */
export type OnEnding = (browser: OpenBrowser, event: BrowserEvent) => Promise<void>;

/** The one state of a session's browser. Only `browser-lifecycle.ts` and the files of this folder change it. */
export type Lifecycle = {
  deps: LifecycleDeps;
  state: BrowserState;
  /** Why the last browser failed. Undefined if it ended otherwise. */
  failure: string | undefined;
};

/** Returns the running browser of a state, also if it is not recorded yet. Undefined if no browser runs. */
export function runningIn(state: BrowserState): RunningBrowser | undefined {
  return state.kind === "up" || state.kind === "recording" ? state.running : undefined;
}

/** Whether callers must wait for a start. The browser process may already run. */
export function isStarting(
  state: BrowserState,
): state is Extract<BrowserState, { start: BrowserStart<RunningBrowser> }> {
  return state.kind === "starting" || state.kind === "recording";
}

/** Enters the state `ending` until the end is recorded. */
export function beginEnding(life: Lifecycle, ended: Promise<void>): void {
  const ending: BrowserState = { kind: "ending", ended };
  life.state = ending;
  void ended.finally(() => {
    if (life.state === ending) life.state = { kind: "none" };
  });
}

/** Logs that an outcome was not recorded, unless the record was removed together with its session. */
export async function reportUnrecorded(
  { sessionId, record, logger }: LifecycleDeps,
  error: unknown,
): Promise<void> {
  // If the record was removed together with its session, there is nothing left to record.
  const isRemoved = await record.read().then(
    (row) => row === undefined,
    () => false,
  );
  if (!isRemoved) logger.warn({ sessionId, err: error }, "the end of a browser was not recorded");
}
