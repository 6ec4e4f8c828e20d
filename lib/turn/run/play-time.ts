import { createDeadline } from "#lib/time/deadline.ts";

/** How much time an executor has for a run. */
export type PlayTime = {
  /** When the executor has to have paused the run, on the clock of `performance.now()`. Infinity without a limit. */
  endsAtMs: number;
  /** How many steps were recorded before this executor claimed the run. */
  stepsBefore: number;
};

/** The fields of `RunInPlay` that are needed here. */
type TimedRun = { time: PlayTime; outputs: ReadonlyMap<string, unknown>; signal: AbortSignal };

/**
 * Thrown when a step is not begun, or is interrupted without an effect, because it may not fit into the time of this
 * executor. The run is paused, and its next executor begins the step with its whole time.
 */
export class OutOfTimeError extends Error {
  override readonly name = "OutOfTimeError";
}

/** Model calls are not begun with less time than this, or a quarter of an executor's whole time if that is less. */
const MODEL_CALL_MS_MIN = 60_000;

/** Returns the time of an executor that begins now. @param limitMs its whole time. */
export const startPlayTime = (limitMs: number, stepsBefore: number): PlayTime => ({
  endsAtMs: performance.now() + limitMs,
  stepsBefore,
});

/** The longest time that a timer can wait for. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** Returns the time that is left, in milliseconds. */
export const timeLeftMs = ({ time }: Pick<TimedRun, "time">): number =>
  Math.min(TIMER_MS_MAX, Math.max(0, time.endsAtMs - performance.now()));

/**
 * Whether this executor has recorded a step. Only then may it pause; otherwise a step that takes longer than the whole
 * time of any executor would never be played.
 */
const hasProgress = ({ time, outputs }: TimedRun): boolean => outputs.size > time.stepsBefore;

/** @throws OutOfTimeError if a step of `neededMs` may not fit, and this executor has recorded a step before. */
export function throwUnlessFits(run: TimedRun, neededMs: number): void {
  if (hasProgress(run) && neededMs > timeLeftMs(run)) throw new OutOfTimeError();
}

/**
 * Makes a model call with a signal that aborts when the run is stopped, or the time of this executor is over.
 *
 * @returns undefined if the time was over although the executor had recorded no step before.
 * @throws OutOfTimeError if there is too little time to begin, or the time was over.
 */
export async function callWithinPlay<Result extends { kind: string }>(
  run: TimedRun,
  limitMs: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  throwUnlessFits(run, Math.min(MODEL_CALL_MS_MIN, limitMs / 4));
  let isOver = false;
  const deadline = createDeadline({ ms: timeLeftMs(run), signal: run.signal });
  const result = await deadline.run(async (limited) => {
    const answer = await call(limited);
    const isBroken = answer.kind === "failed" || answer.kind === "stopped";
    isOver = isBroken && limited.aborted && !run.signal.aborted;
    return answer;
  });
  if (!isOver) return result;
  if (hasProgress(run)) throw new OutOfTimeError();
  return undefined;
}
