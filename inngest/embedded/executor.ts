import type { Alarms } from "./alarms.ts";
import type { Backoff } from "./backoff.ts";
import type { EngineClock } from "./clock.ts";
import {
  type FunctionHandler,
  type Invocation,
  invokeFunction,
  type Replay,
  toReplay,
} from "./invoke-function.ts";
import { judgeAnswer, type Verdict } from "./judge-answer.ts";
import type { EngineLogger } from "./logger.ts";
import { INTERNAL_EVENTS, type SerializedError, toSerializedError } from "./protocol.ts";
import type { RegisteredFunction, Registry } from "./registry.ts";
import type { Slots } from "./slots.ts";
import type { Change, ClaimedRun, EngineStore, Receipt, Snapshot, StepRow, WokenRun } from "./store.ts";

/** A run this executor plays or has an alarm for. */
type HeldRun = WokenRun & { fn: RegisteredFunction };

/** How long after a failure of the database a run is tried again. */
const REPAIR_MS = 1_000;
const NEW_RUN: Snapshot = { attempt: 0, wakes: 0, steps: [] };

export type Executor = ReturnType<typeof createExecutor>;

/** What names a call at the checkpoint endpoint: the epoch the call was made in. */
export const toTicket = (runId: string, epoch: number) => `${runId}:${epoch}`;

/**
 * Plays runs: calls their functions, writes what comes of it, and sets alarms for what has to wait. Every write is
 * fenced by the run's epoch, so whatever another executor has taken over is silently let go.
 */
export function createExecutor(deps: {
  store: EngineStore;
  registry: Registry;
  handler: FunctionHandler;
  slots: Slots;
  alarms: Alarms;
  clock: EngineClock;
  backoff: Backoff;
  logger: EngineLogger;
  /** Told of the event before a wait for it is written. */
  onWait: (eventName: string) => void;
}) {
  const { store, registry, handler, slots, alarms, clock, backoff, logger, onWait } = deps;
  const held = new Map<string, HeldRun>();
  const playing = new Map<HeldRun, Promise<void>>();
  let isStopping = false;

  /** Runs in the background until the run is parked, over, or somebody else's. */
  function play(run: HeldRun, first?: Snapshot) {
    if (isStopping) return;
    const before = playing.get(run);
    if (before) return void before.then(() => play(run));
    alarms.clear(run.id);
    const round = playToRest(run, first)
      .catch((error: unknown) => {
        const fields = { err: error, functionId: run.functionId, functionRunId: run.id };
        logger[isStopping ? "debug" : "error"](
          fields,
          "A function run was interrupted; it will be taken up again",
        );
        setAlarm(run, clock.now() + REPAIR_MS);
      })
      .finally(() => playing.delete(run));
    playing.set(run, round);
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
    if (isStopping || held.get(run.id) !== run) return;
    alarms.set(run.id, dueAtMs, () => play(run));
  }

  async function playToRest(run: HeldRun, first: Snapshot | undefined): Promise<void> {
    let snapshot: Snapshot | undefined = first ?? (await takeUp(run));
    while (snapshot && !isStopping && held.get(run.id) === run) {
      const toRepeat = snapshot.steps.filter((step) => step.state === "pending" && step.kind === "run");
      const isOver =
        toRepeat.length > 0 ? await repeatSteps(run, snapshot, toRepeat) : await discover(run, snapshot);
      if (isOver) return;
      snapshot = await store.load(run.id, run.epoch);
    }
    if (!snapshot) drop(run);
  }

  /** Ends the waits whose time has come, then reads the run. */
  async function takeUp(run: HeldRun): Promise<Snapshot | undefined> {
    await store.endDueWaits(run.id, run.epoch, clock.now());
    return store.load(run.id, run.epoch);
  }

  /** Repeats the failed steps that are due; parks when none is. Answers whether the run is at rest. */
  async function repeatSteps(run: HeldRun, snapshot: Snapshot, steps: StepRow[]): Promise<boolean> {
    const due = steps.filter((step) => (step.dueAtMs ?? 0) <= clock.now());
    if (due.length === 0) return park(run, snapshot, { attempt: snapshot.attempt });
    return callSteps(run, snapshot, due);
  }

  /** Lets the function run on until it ends, fails, or waits. Answers whether the run is at rest. */
  async function discover(run: HeldRun, snapshot: Snapshot): Promise<boolean> {
    const verdict = await call(run, snapshot, toReplay(snapshot.steps), snapshot.attempt);
    const { next } = verdict;
    if (isStopping && next.kind === "planned") return true;
    switch (next.kind) {
      case "halted":
        return isStopping;
      case "completed":
      case "failed":
        return end(run, verdict, next);
      case "retry":
        return park(run, snapshot, { attempt: next.attempt, dueAtMs: next.dueAtMs }, verdict);
      case "parked":
        return park(run, snapshot, { attempt: 0 }, verdict);
      case "progressed":
        return !(await write(run, { ...toChange(verdict), move: { to: "running", attempt: 0 } }));
      case "planned": {
        if (hasWrites(verdict) && !(await write(run, toChange(verdict)))) return true;
        // The call may have recorded steps before it came to these.
        const current = await store.load(run.id, run.epoch);
        return (
          !current ||
          callSteps(
            run,
            current,
            next.steps.map((step) => ({ ...step, attempt: 0 })),
          )
        );
      }
    }
  }

  /** Calls planned steps side by side and records each as it ends. Answers whether the run is at rest. */
  async function callSteps(
    run: HeldRun,
    snapshot: Snapshot,
    steps: { stepId: string; attempt: number }[],
  ): Promise<boolean> {
    const replay = toReplay(snapshot.steps);
    const results = await Promise.allSettled(
      steps.map(async ({ stepId, attempt }) => {
        const verdict = await call(run, snapshot, replay, attempt, stepId);
        const { next } = verdict;
        if (next.kind === "halted") return isStopping;
        if (next.kind === "failed") return end(run, verdict, next);
        if (next.kind !== "retry") return !(await write(run, toChange(verdict)));
        const repeat = { stepId, name: stepId, state: "pending", kind: "run" } as const;
        const steps = [...verdict.steps, { ...repeat, attempt: next.attempt, dueAtMs: next.dueAtMs }];
        return !(await write(run, { ...toChange(verdict), steps }));
      }),
    );
    for (const result of results) if (result.status === "rejected") throw result.reason;
    return results.some((result) => result.status === "fulfilled" && result.value);
  }

  async function call(
    run: HeldRun,
    snapshot: Snapshot,
    replay: Replay,
    attempt: number,
    stepId?: string,
  ): Promise<Verdict> {
    const waiting = snapshot.steps.filter((step) => step.state === "pending");
    const invocation: Invocation = {
      functionId: run.functionId,
      runId: run.id,
      ticket: toTicket(run.id, run.epoch),
      event: run.event,
      replay,
      attempt,
      maxAttempts: run.fn.maxAttempts,
      stepId,
      planOnly: waiting.some((step) => step.kind === "run"),
    };
    const release = await slots.acquire(run.fn, run.event);
    try {
      const answer = await invokeFunction(handler, invocation, clock.now);
      const waitingStepIds = new Set(waiting.map((step) => step.stepId));
      const { maxAttempts } = run.fn;
      const nowMs = clock.now();
      const verdict = judgeAnswer(answer, {
        runId: run.id,
        attempt,
        maxAttempts,
        waitingStepIds,
        nowMs,
        backoff,
      });
      const unknown = verdict.runs.find(({ functionId }) => !registry.find(functionId));
      if (unknown) throw new Error(`The invoked function "${unknown.functionId}" is not registered.`);
      return verdict;
    } catch (error) {
      const next = { kind: "failed", error: toSerializedError(error) } as const;
      return { steps: [], events: [], runs: [], next };
    } finally {
      release();
    }
  }

  /** Writes the run's rest and sets its alarm, unless something came in since the snapshot. */
  async function park(
    run: HeldRun,
    snapshot: Snapshot,
    rest: { attempt: number; dueAtMs?: number },
    verdict?: Verdict,
  ): Promise<boolean> {
    const change = verdict ? toChange(verdict) : {};
    const receipt = await commit(run, { ...change, move: { to: "waiting", wakes: snapshot.wakes, ...rest } });
    if (!receipt.held) return true;
    if (receipt.state !== "waiting") return false;
    const steps = [...snapshot.steps, ...(verdict?.steps ?? [])];
    const dueTimes = [
      rest.dueAtMs,
      ...steps.map((step) => (step.state === "pending" ? step.dueAtMs : undefined)),
    ].filter((due) => typeof due === "number");
    if (dueTimes.length > 0) setAlarm(run, Math.min(...dueTimes));
    return true;
  }

  /** Ends the run in one transaction with what follows from its end: a failure's event and handlers, its parent's step. */
  async function end(
    run: HeldRun,
    verdict: Verdict,
    next: Extract<Verdict["next"], { kind: "completed" | "failed" }>,
  ): Promise<boolean> {
    const { hasParent } = run;
    const change: Change = toChange(verdict);
    if (next.kind === "failed") {
      const failure = planFailure(run, next.error);
      change.events = [...(change.events ?? []), ...failure.events];
      change.runs = [...(change.runs ?? []), ...failure.runs];
      change.move = { to: "failed", error: next.error, hasParent };
    } else change.move = { to: "completed", output: next.output, hasParent };
    await commit(run, change);
    drop(run);
    return true;
  }

  function planFailure(run: HeldRun, error: SerializedError) {
    const data = { function_id: run.functionId, run_id: run.id, error, event: run.event };
    const event = { id: `failed:${run.id}`, name: INTERNAL_EVENTS.failed, data, ts: clock.now() };
    const runs = run.event.name === INTERNAL_EVENTS.failed ? [] : registry.planRuns(event);
    return runs.length > 0 ? { events: [event], runs } : { events: [], runs: [] };
  }

  async function write(run: HeldRun, change: Change): Promise<boolean> {
    return (await commit(run, change)).held;
  }

  async function commit(run: HeldRun, change: Change): Promise<Receipt> {
    for (const step of change.steps ?? [])
      if (step.state === "pending" && step.kind === "event") onWait(step.eventName);
    const receipt = await store.commit({ ...change, fence: { runId: run.id, epoch: run.epoch } });
    if (!receipt.held) drop(run);
    else follow(change, receipt);
    return receipt;
  }

  /** Sets going what a committed change has begun, woken and cancelled. */
  function follow(change: Change, receipt: Receipt) {
    for (const id of receipt.cancelled) {
      const run = held.get(id);
      if (run) drop(run);
    }
    for (const planned of change.runs ?? []) {
      const event = change.events?.find(({ id }) => id === planned.eventId);
      if (!event || !receipt.started.includes(planned.id)) continue;
      const { id, functionId, parent } = planned;
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
    let isQuiet = false;
    const quiet = Promise.allSettled(playing.values()).then(() => {
      isQuiet = true;
    });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, graceMs);
    await Promise.race([quiet, late]);
    clearTimeout(timer);
    return { isQuiet };
  }

  return { follow, adopt, stop, isStopping: () => isStopping };
}

const hasWrites = (verdict: Verdict) => verdict.steps.length + verdict.events.length > 0;

const toChange = ({ steps, events, runs }: Verdict): Change => ({ steps, events, runs });
