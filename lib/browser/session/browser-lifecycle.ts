import type { BrowserFields } from "../browser-records.ts";
import { ElsewhereError } from "../elsewhere-error.ts";
import type { BrowserEvent } from "../store/browser-machine.ts";
import { beginStart } from "./lifecycle/begin-start.ts";
import {
  type BrowserState,
  beginEnding,
  isStarting,
  type Lifecycle,
  type LifecycleDeps,
  type OnEnding,
  type RunningBrowser,
  reportUnrecorded,
  runningIn,
} from "./lifecycle/lifecycle-state.ts";

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

async function provision(life: Lifecycle, signal?: AbortSignal): Promise<RunningBrowser> {
  const { state } = life;
  if (state.kind === "up") return state.running;
  const start = isStarting(state) ? state.start : beginStart(life);
  return start.join(signal);
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
