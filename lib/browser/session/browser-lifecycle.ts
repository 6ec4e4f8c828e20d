import type { Logger } from "#lib/log/logger.ts";
import { errorText } from "#lib/text/error-text.ts";
import type { BrowserFields, BrowserRow } from "../browser-records.ts";
import { ElsewhereError } from "../elsewhere-error.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import { describeRestart } from "../state/describe-restart.ts";
import type { BrowserEvent } from "../store/browser-machine.ts";
import type { InputQueue } from "../view/input.ts";
import type { PlaceTicket } from "./browser-places.ts";
import type { StoredRecord } from "./browser-record.ts";
import { type BrowserStart, NoBrowserError, shareStart } from "./browser-start.ts";

/** A session's running browser, with the objects that end together with it. */
export type RunningBrowser = {
  browser: OpenBrowser;
  place: PlaceTicket;
  /** Sends the keyboard and mouse input of people to the selected page, or to its overlay. */
  inputQueue: InputQueue | undefined;
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
type BrowserState =
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

/** Starts and ends one browser at a time for one session, and records each step in order. */
export type BrowserLifecycle = {
  state: () => BrowserState;
  /**
   * Returns the running browser, or starts one as soon as a place is free.
   * @throws NoBrowserError when no browser can be started; the signal's reason when the signal fires; another Error
   * when the start cannot be recorded, or when `end` stops the wait for a place.
   */
  provision: (signal?: AbortSignal) => Promise<RunningBrowser>;
  /**
   * Resolves when the current start begins to wait for a place. Stays pending if the start does not have to wait, or if
   * there is no current start.
   */
  untilWaiting: () => Promise<void>;
  /** Records that a browser ended unexpectedly, and closes what is left of it. */
  lose: (running: RunningBrowser, event: BrowserEvent, lastError: string | null) => void;
  /** If the session waits for a place, stops the wait with an ElsewhereError: another host starts its browser. */
  handOver: () => void;
  /** Ends the browser, or stops waiting for a place. Resolves when this is recorded. */
  end: () => Promise<void>;
  /** Like `end`, but without `onEnding`, which may wait for pages: nothing of the browser is needed any more. */
  discard: () => Promise<void>;
};

type LifecycleDeps = {
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
type OnEnding = (browser: OpenBrowser, event: BrowserEvent) => Promise<void>;

type Lifecycle = {
  deps: LifecycleDeps;
  state: BrowserState;
  /** Why the last browser failed. Undefined if it ended otherwise. */
  failure: string | undefined;
};

/** @see BrowserLifecycle */
export function createBrowserLifecycle(deps: LifecycleDeps): BrowserLifecycle {
  const life: Lifecycle = { deps, state: { kind: "none" }, failure: undefined };
  return {
    state: () => life.state,
    provision: (signal) => provision(life, signal),
    untilWaiting: () => (isStarting(life.state) ? life.state.start.queued : new Promise(() => {})),
    lose: (running, event, lastError) => lose(life, running, event, lastError),
    handOver() {
      if (isStarting(life.state)) life.state.start.giveUp(new ElsewhereError(deps.sessionId));
    },
    end: () => end(life, deps.onEnding),
    discard: () => end(life, async () => {}),
  };
}

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

async function provision(life: Lifecycle, signal?: AbortSignal): Promise<RunningBrowser> {
  const { state } = life;
  if (state.kind === "up") return state.running;
  const start = isStarting(state) ? state.start : beginStart(life);
  return start.join(signal);
}

function beginStart(life: Lifecycle): BrowserStart<RunningBrowser> {
  const { deps, state: before } = life;
  const queued = Promise.withResolvers<void>();
  let ticket: PlaceTicket | undefined;

  async function run(): Promise<RunningBrowser> {
    await (before.kind === "ending" ? before.ended : undefined);
    ticket = deps.requestPlace((position) => deps.record.noteWaiting(position));
    try {
      return await startBrowser(life, start, ticket, queued.resolve);
    } catch (error) {
      ticket.release();
      if (isStarting(life.state) && life.state.start === start) life.state = { kind: "none" };
      throw error;
    }
  }

  const isWaiting = () => life.state === starting && (ticket?.isWaiting() ?? false);
  const start: BrowserStart<RunningBrowser> = shareStart({
    browser: run(),
    isWaiting,
    queued: queued.promise,
    waitMs: deps.placeWait.waitMs,
    explainWait: deps.placeWait.explain,
    leaveLine(error) {
      if (!isWaiting()) return;
      // The state is `ending` until the end of this start is recorded. If a caller arrives during this time, a new
      // start begins, and the new start waits for the recording.
      beginEnding(life, start.settled);
      ticket?.release(error);
    },
  });
  const starting: BrowserState = { kind: "starting", start };
  life.state = starting;
  return start;
}

/** Records that the browser starts. A host that took the session over from the queue finds this recorded. */
async function provisionRecord(record: LifecycleDeps["record"], place: PlaceTicket): Promise<BrowserRow> {
  const waiting = place.isHandedOver ? await record.read() : undefined;
  if (waiting?.status === "creating") return waiting;
  // The record names an earlier browser if the end of that browser was not recorded.
  await record.dropClaim();
  return record.move("provision", { lastError: null, currentUrl: null, restartNotice: null });
}

async function startBrowser(
  life: Lifecycle,
  start: BrowserStart<RunningBrowser>,
  place: PlaceTicket,
  onQueued: () => void,
): Promise<RunningBrowser> {
  const { deps } = life;
  const { record } = deps;
  const { returnUrl } = await provisionRecord(record, place);

  const browser = await takeWithPlace(deps, place, onQueued);
  const running: RunningBrowser = {
    browser,
    place,
    inputQueue: undefined,
    landing: Promise.resolve(),
    starts: 0,
    isRestart: false,
    restartReason: life.failure,
    isLost: false,
  };
  life.state = { kind: "recording", start, running };
  deps.onTaken(running);
  const row = await record
    .move("cameUp", {
      currentUrl: browser.selected().page.url(),
      restartNotice:
        returnUrl === null ? null : describeRestart(browser.siteData.restoration(), life.failure),
    })
    .catch(async (error) => {
      if (runningIn(life.state) === running) {
        deps.onReleased();
        beginEnding(life, start.settled);
      }
      await browser.close();
      throw error;
    });
  if (runningIn(life.state) !== running) throw new NoBrowserError("the browser ended right after its start");
  life.state = { kind: "up", running };
  running.starts = row.starts;
  running.isRestart = row.restartNotice !== null;
  running.landing = deps.land(browser, row);
  return running;
}

/** Waits for the place, and then takes a browser from the pool. If either fails, records the failure. */
async function takeWithPlace(
  deps: LifecycleDeps,
  place: PlaceTicket,
  onQueued: () => void,
): Promise<OpenBrowser> {
  const { record } = deps;
  try {
    if (place.isWaiting()) {
      onQueued();
      record.enqueue().then(place.enlist, (error: unknown) => place.release(toNoBrowser(error)));
    }
    await place.granted;
    record.noteWaiting(0);
    return await deps.take().catch((error: unknown) => {
      throw toNoBrowser(error);
    });
  } catch (error) {
    record.noteWaiting(0);
    await recordFailure(deps, error);
    throw error;
  }
}

const toNoBrowser = (error: unknown) => new NoBrowserError(errorText(error), { cause: error });

/**
 * Records the status `error` with the reason if the start failed or no place became free in time. Records `expired` if
 * the wait for a place was stopped earlier.
 */
async function recordFailure(deps: LifecycleDeps, error: unknown): Promise<void> {
  const { sessionId, record, logger } = deps;
  // The other host records the outcome of the start.
  if (error instanceof ElsewhereError) return;
  if (!(error instanceof NoBrowserError)) {
    logger.debug({ sessionId, err: error }, "a session stopped waiting for a browser");
    await record.move("abandoned", {}).catch((failure) => reportUnrecorded(deps, failure));
    return;
  }
  logger.warn({ sessionId, err: error }, "no browser could be started");
  await record
    .move("failed", { lastError: error.message })
    .catch((failure) => reportUnrecorded(deps, failure));
}

function lose(life: Lifecycle, running: RunningBrowser, event: BrowserEvent, lastError: string | null): void {
  if (runningIn(life.state) !== running) return;
  const { sessionId, logger } = life.deps;
  logger.warn({ sessionId, event, lastError }, "a browser ended unexpectedly");
  retire(life, running, event, life.deps.onEnding, lastError === null ? {} : { lastError });
}

async function end(life: Lifecycle, onEnding: OnEnding): Promise<void> {
  if (isStarting(life.state)) {
    const { start } = life.state;
    start.giveUp(new Error("the browser was ended while the session waited for it"));
    await start.settled;
  }
  const running = runningIn(life.state);
  if (running) retire(life, running, "reaped", onEnding);
  const { state } = life;
  if (state.kind === "ending") await state.ended;
  await life.deps.record.settle();
}

/** Detaches a browser from the session, then closes it and records its end. */
function retire(
  life: Lifecycle,
  running: RunningBrowser,
  event: BrowserEvent,
  onEnding: OnEnding,
  fields: BrowserFields = {},
) {
  const { deps, state } = life;
  life.failure = fields.lastError ?? undefined;
  deps.onReleased();
  const started = state.kind === "recording" ? state.start.settled : undefined;
  beginEnding(life, closeAndRecord({ ...deps, onEnding }, running, event, fields, started));
}

function beginEnding(life: Lifecycle, ended: Promise<void>): void {
  const ending: BrowserState = { kind: "ending", ended };
  life.state = ending;
  void ended.finally(() => {
    if (life.state === ending) life.state = { kind: "none" };
  });
}

/**
 * Closes a browser and records its end.
 * @param started settles when the browser's start is recorded. The end must be recorded after the start.
 */
async function closeAndRecord(
  deps: LifecycleDeps,
  { browser, place }: RunningBrowser,
  event: BrowserEvent,
  fields: BrowserFields,
  started: Promise<void> | undefined,
): Promise<void> {
  await deps.onEnding(browser, event);
  await browser.close();
  place.release();
  await started;
  await deps.record
    .move(event, { currentUrl: null, ...fields })
    .catch((failure) => reportUnrecorded(deps, failure));
}

async function reportUnrecorded({ sessionId, record, logger }: LifecycleDeps, error: unknown): Promise<void> {
  // If the record was removed together with its session, there is nothing left to record.
  const isRemoved = await record.read().then(
    (row) => row === undefined,
    () => false,
  );
  if (!isRemoved) logger.warn({ sessionId, err: error }, "the end of a browser was not recorded");
}
