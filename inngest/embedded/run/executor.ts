import type { Logger } from "#lib/log/logger.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { Alarms } from "../alarms.ts";
import { createBatcher } from "../create-batcher.ts";
import type {
  Change,
  ClaimedRun,
  EngineStore,
  Receipt,
  Snapshot,
  WokenRun,
} from "../engine-store/engine-store.ts";
import type { CallScene, HeldRun } from "./call-run.ts";
import { type PlayScene, playRun } from "./play-run.ts";

/** Delay before a run is played again after an error, such as a failure of the database, interrupted it. */
const REPAIR_MS = 1_000;
/**
 * Runs that complete within this many milliseconds share one statement. The delay is harmless, because no caller waits.
 */
const END_LINGER_MS = 5;
const NEW_RUN: Snapshot = { attempt: 0, wakes: 0, steps: [] };

/** Plays the runs of this process in the background. */
export type Executor = {
  /** Applies a committed change: plays the runs that it started or woke, and drops the runs that it cancelled. */
  follow: (change: Change, receipt: Receipt) => void;
  /** Continues runs that this executor has claimed from other executors. */
  adopt: (claimed: ClaimedRun[]) => void;
  /** Whether this executor plays the run, or will continue it. */
  holds: (runId: string) => boolean;
  /** Starts no more calls, and waits up to `graceMs` for calls in progress. `isQuiet`: whether all calls have ended. */
  stop: (graceMs: number) => Promise<{ isQuiet: boolean }>;
  isStopping: () => boolean;
};

type ExecutorDeps = Omit<CallScene, "isLeft"> & {
  store: EngineStore;
  alarms: Alarms;
  logger: Logger;
  /** Called with the name of an event before a wait for the event is written. */
  onWait: (eventName: string) => void;
};

/** The executor's state. It is also the `PlayScene` that `playRun` receives. */
type State = ExecutorDeps &
  PlayScene & {
    /**
     * Runs of this executor that are playing, queued or parked, by id. A run that is missing here, or whose entry was
     * replaced by a later claim, is not continued.
     */
    held: Map<string, HeldRun>;
    playing: Map<HeldRun, Promise<void>>;
    isStopping: boolean;
  };

/**
 * Creates an executor. Every write requires that the run still has its epoch. If another executor has claimed the run,
 * nothing is written, and this executor drops the run.
 */
export function createExecutor(deps: ExecutorDeps): Executor {
  const completeTogether = createBatcher(deps.store.completeRuns, END_LINGER_MS);
  const state: State = {
    ...deps,
    held: new Map(),
    playing: new Map(),
    isStopping: false,
    isLeft: (run) => isLeft(state, run),
    commit: (run, change) => commit(state, run, change),
    complete: ({ id, epoch }, output) => completeTogether([{ runId: id, epoch, output }]),
  };
  return {
    follow: (change, receipt) => follow(state, change, receipt),
    adopt: (claimed) => adopt(state, claimed),
    holds: (runId) => state.held.has(runId),
    stop: (graceMs) => stop(state, graceMs),
    isStopping: () => state.isStopping,
  };
}

const isLeft = ({ isStopping, held }: State, run: HeldRun) => isStopping || held.get(run.id) !== run;

/** Plays a run in the background until it is parked or ends. If it is already playing, it is played again afterwards. */
function play(state: State, run: HeldRun, first?: Snapshot): void {
  if (isLeft(state, run)) return;
  const { playing, alarms } = state;
  const current = playing.get(run);
  if (current) return void current.then(() => play(state, run));
  alarms.clear(run.id);
  playing.set(
    run,
    playToRest(state, run, first).finally(() => playing.delete(run)),
  );
}

async function playToRest(state: State, run: HeldRun, first: Snapshot | undefined): Promise<void> {
  try {
    const rest = await playRun(state, run, first);
    if (rest.kind !== "parked") drop(state, run);
    else if (rest.dueAtMs !== undefined) setAlarm(state, run, rest.dueAtMs);
  } catch (error) {
    const level = state.isStopping ? "debug" : "error";
    const fields = { err: error, functionId: run.functionId, functionRunId: run.id };
    state.logger[level](fields, "function run was interrupted; it will be retried");
    setAlarm(state, run, state.clock.now() + REPAIR_MS);
  }
}

/**
 * Adds a run to `held`, in place of an earlier claim on the same run. Returns undefined if the run's function is
 * unknown.
 */
function hold({ registry, held }: State, run: WokenRun): HeldRun | undefined {
  const fn = registry.find(run.functionId);
  if (!fn) return undefined;
  const entry = { ...run, fn };
  held.set(run.id, entry);
  return entry;
}

function drop({ held, alarms }: State, run: HeldRun): void {
  if (held.get(run.id) !== run) return;
  held.delete(run.id);
  alarms.clear(run.id);
}

function setAlarm(state: State, run: HeldRun, dueAtMs: number): void {
  if (!isLeft(state, run)) state.alarms.set(run.id, dueAtMs, () => play(state, run));
}

async function commit(state: State, run: HeldRun, change: Change): Promise<Receipt> {
  for (const step of change.steps ?? [])
    if (step.state === "pending" && step.kind === "event") state.onWait(step.eventName);
  const receipt = await state.store.commit({ ...change, fence: { runId: run.id, epoch: run.epoch } });
  if (!receipt.held) drop(state, run);
  else follow(state, change, receipt);
  return receipt;
}

function follow(state: State, change: Change, receipt: Receipt): void {
  const { held } = state;
  for (const id of receipt.cancelled) {
    const run = held.get(id);
    if (run) drop(state, run);
  }
  for (const { id, functionId, eventId, parent } of change.runs ?? []) {
    const event = change.events?.find((candidate) => candidate.id === eventId);
    if (!event || !receipt.started.includes(id)) continue;
    const run = hold(state, { id, functionId, epoch: 1, hasParent: parent !== undefined, event });
    if (run) play(state, run, NEW_RUN);
  }
  for (const woken of receipt.woken) {
    if (held.get(woken.id)?.epoch === woken.epoch) continue;
    const run = hold(state, woken);
    if (run) play(state, run);
  }
}

function adopt(state: State, claimed: ClaimedRun[]): void {
  for (const { state: runState, dueAtMs, ...rest } of claimed) {
    const run = hold(state, rest);
    if (!run) continue;
    if (runState === "running") play(state, run);
    else if (dueAtMs !== null) setAlarm(state, run, dueAtMs);
  }
}

async function stop(state: State, graceMs: number): Promise<{ isQuiet: boolean }> {
  state.isStopping = true;
  state.alarms.clearAll();
  const quiet = Promise.allSettled(state.playing.values());
  return { isQuiet: await createDeadline({ ms: graceMs }).settles(quiet) };
}
