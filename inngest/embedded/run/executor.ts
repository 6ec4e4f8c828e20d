import type { Logger } from "#lib/log/logger.ts";
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
import { playRun } from "./play-run.ts";

/** How long after a failure of the database a run is tried again. */
const REPAIR_MS = 1_000;
const END_LINGER_MS = 5;
const NEW_RUN: Snapshot = { attempt: 0, wakes: 0, steps: [] };

export type Executor = ReturnType<typeof createExecutor>;

type ExecutorDeps = Omit<CallScene, "isLeft"> & {
  store: EngineStore;
  alarms: Alarms;
  logger: Logger;
  /** Told of the event before a wait for it is written. */
  onWait: (eventName: string) => void;
};

/**
 * Holds the runs of this process: plays them in the background and sets alarms for what has to wait. Every write is
 * fenced by the run's epoch, so whatever another executor has taken over is silently let go.
 */
export function createExecutor(deps: ExecutorDeps) {
  const { store, registry, alarms, clock, logger, onWait } = deps;
  const held = new Map<string, HeldRun>();
  const playing = new Map<HeldRun, Promise<void>>();
  let isStopping = false;
  const isLeft = (run: HeldRun) => isStopping || held.get(run.id) !== run;
  /** Nothing waits for an end to be written, so those of a few milliseconds go into one statement. */
  const completeTogether = createBatcher(store.completeRuns, END_LINGER_MS);
  const scene = { ...deps, isLeft, commit, complete };

  /** Plays in the background until the run rests; a run under way is played again after that. */
  function play(run: HeldRun, first?: Snapshot) {
    if (isLeft(run)) return;
    const before = playing.get(run);
    if (before) return void before.then(() => play(run));
    alarms.clear(run.id);
    playing.set(
      run,
      playToRest(run, first).finally(() => playing.delete(run)),
    );
  }

  async function playToRest(run: HeldRun, first: Snapshot | undefined): Promise<void> {
    try {
      const rest = await playRun(scene, run, first);
      if (rest.kind !== "parked") drop(run);
      else if (rest.dueAtMs !== undefined) setAlarm(run, rest.dueAtMs);
    } catch (error) {
      const level = isStopping ? "debug" : "error";
      const fields = { err: error, functionId: run.functionId, functionRunId: run.id };
      logger[level](fields, "A function run was interrupted; it will be taken up again");
      setAlarm(run, clock.now() + REPAIR_MS);
    }
  }

  /** Holds a run; news of a later epoch replace what was known of it. */
  function hold(run: WokenRun): HeldRun | undefined {
    const fn = registry.find(run.functionId);
    if (!fn) return undefined;
    const entry = { ...run, fn };
    held.set(run.id, entry);
    return entry;
  }

  function drop(run: HeldRun) {
    if (held.get(run.id) !== run) return;
    held.delete(run.id);
    alarms.clear(run.id);
  }

  function setAlarm(run: HeldRun, dueAtMs: number) {
    if (!isLeft(run)) alarms.set(run.id, dueAtMs, () => play(run));
  }

  async function commit(run: HeldRun, change: Change): Promise<Receipt> {
    for (const step of change.steps ?? [])
      if (step.state === "pending" && step.kind === "event") onWait(step.eventName);
    const receipt = await store.commit({ ...change, fence: { runId: run.id, epoch: run.epoch } });
    if (!receipt.held) drop(run);
    else follow(change, receipt);
    return receipt;
  }

  function complete({ id, epoch }: HeldRun, output: unknown): Promise<void> {
    return completeTogether([{ runId: id, epoch, output }]);
  }

  /** Sets going what a committed change has begun and woken, and lets go of what it has cancelled. */
  function follow(change: Change, receipt: Receipt) {
    for (const id of receipt.cancelled) {
      const run = held.get(id);
      if (run) drop(run);
    }
    for (const { id, functionId, eventId, parent } of change.runs ?? []) {
      const event = change.events?.find((candidate) => candidate.id === eventId);
      if (!event || !receipt.started.includes(id)) continue;
      const run = hold({ id, functionId, epoch: 1, hasParent: parent !== undefined, event });
      if (run) play(run, NEW_RUN);
    }
    for (const woken of receipt.woken) {
      if (held.get(woken.id)?.epoch === woken.epoch) continue;
      const run = hold(woken);
      if (run) play(run);
    }
  }

  /** Takes up runs claimed from executors that are gone. */
  function adopt(claimed: ClaimedRun[]) {
    for (const { state, dueAtMs, ...rest } of claimed) {
      const run = hold(rest);
      if (!run) continue;
      if (state === "running") play(run);
      else if (dueAtMs !== null) setAlarm(run, dueAtMs);
    }
  }

  /** Starts no more calls and waits until the ones under way have come to a step's end, or for `graceMs`. */
  async function stop(graceMs: number): Promise<{ isQuiet: boolean }> {
    isStopping = true;
    alarms.clearAll();
    const quiet = Promise.allSettled(playing.values()).then(() => true);
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(resolve, graceMs, false);
    const isQuiet = await Promise.race([quiet, late]);
    clearTimeout(timer);
    return { isQuiet };
  }

  return { follow, adopt, stop, isStopping: () => isStopping };
}
