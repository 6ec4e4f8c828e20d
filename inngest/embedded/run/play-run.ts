import type { Logger } from "#lib/log/logger.ts";
import type { Change, EngineStore, Receipt, Snapshot, StepRow } from "../engine-store/engine-store.ts";
import { INTERNAL_EVENTS, type SerializedError } from "../protocol.ts";
import { type CallScene, callRun, type HeldRun } from "./call-run.ts";
import type { Verdict } from "./classify-answer.ts";

/** The dependencies of playing a run. `commit` writes only if the run still has its epoch. */
export type PlayScene = CallScene & {
  store: EngineStore;
  commit: (run: HeldRun, change: Change) => Promise<Receipt>;
  logger: Pick<Logger, "warn">;
  /** Writes that a run without a parent has completed. Failed runs are written with `commit`. */
  complete: (run: HeldRun, output: unknown) => Promise<void>;
};

/**
 * Why playing stopped: the run is parked (until `dueAtMs`, if set), has ended, or is left to another or a later
 * executor.
 */
type Rest = { kind: "parked"; dueAtMs: number | undefined } | { kind: "over" } | { kind: "left" };

/** The result of one round: why playing stopped, or undefined if another round follows. */
type Round = Promise<Rest | undefined>;

const OVER: Rest = { kind: "over" };
const LEFT: Rest = { kind: "left" };

const toChange = ({ steps, events, runs }: Verdict): Change => ({ steps, events, runs });

/**
 * Plays a run round by round until it is parked, over or left. If `first` (the state of a new run) is given, the first
 * round needs no query.
 */
export async function playRun(scene: PlayScene, run: HeldRun, first?: Snapshot): Promise<Rest> {
  if (!first) await scene.store.beginRun(run.id, run.epoch, scene.clock.now());
  let snapshot = first ?? (await scene.store.load(run.id, run.epoch));
  while (snapshot && !scene.isLeft(run)) {
    const toRepeat = snapshot.steps.filter((step) => step.state === "pending" && step.kind === "run");
    const rest =
      toRepeat.length > 0
        ? await repeat(scene, run, snapshot, toRepeat)
        : await discover(scene, run, snapshot);
    if (rest) return rest;
    snapshot = await scene.store.load(run.id, run.epoch);
  }
  return LEFT;
}

/** Calls the failed steps whose next attempt is due. If none is due, parks the run. */
async function repeat(scene: PlayScene, run: HeldRun, snapshot: Snapshot, steps: StepRow[]): Round {
  const due = steps.filter((step) => (step.dueAtMs ?? 0) <= scene.clock.now());
  return due.length > 0
    ? callSteps(scene, run, snapshot, due)
    : park(scene, run, snapshot, { attempt: snapshot.attempt });
}

/** Calls the function to continue it, and applies the consequences of its answer. */
async function discover(scene: PlayScene, run: HeldRun, snapshot: Snapshot): Round {
  const { attempt } = snapshot;
  const verdict = await callRun(scene, run, snapshot, { attempt });
  const { next } = verdict;
  switch (next.kind) {
    case "halted":
      return undefined;
    case "completed":
    case "failed":
      return end(scene, run, verdict, next);
    case "retry":
      return park(scene, run, snapshot, { attempt: next.attempt, dueAtMs: next.dueAtMs }, verdict);
    case "parked":
      return park(scene, run, snapshot, { attempt: 0 }, verdict);
    case "progressed":
      await scene.commit(run, { ...toChange(verdict), move: { to: "running", attempt: 0 } });
      return undefined;
    case "planned": {
      if (verdict.steps.length > 0) await scene.commit(run, toChange(verdict));
      // The run is loaded again, because the call may have recorded steps before it planned these steps.
      const current = await scene.store.load(run.id, run.epoch);
      const steps = next.steps.map((step) => ({ ...step, attempt: 0 }));
      return current ? callSteps(scene, run, current, steps) : LEFT;
    }
  }
}

/** Calls planned steps concurrently, and records each step when it ends. */
async function callSteps(
  scene: PlayScene,
  run: HeldRun,
  snapshot: Snapshot,
  steps: { stepId: string; attempt: number }[],
): Round {
  const results = await Promise.allSettled(
    steps.map(async ({ stepId, attempt }) => {
      const verdict = await callRun(scene, run, snapshot, { attempt, stepId });
      const { next } = verdict;
      if (next.kind === "halted") return undefined;
      if (next.kind === "failed") return end(scene, run, verdict, next);
      const change = toChange(verdict);
      if (next.kind === "retry") {
        const { attempt, dueAtMs } = next;
        change.steps = [
          ...verdict.steps,
          { stepId, name: stepId, state: "pending", kind: "run", attempt, dueAtMs },
        ];
      }
      await scene.commit(run, change);
      return undefined;
    }),
  );
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return results.map((result) => (result.status === "fulfilled" ? result.value : undefined)).find(Boolean);
}

/** Parks the run if it was not woken after the snapshot was loaded. */
async function park(
  scene: PlayScene,
  run: HeldRun,
  snapshot: Snapshot,
  rest: { attempt: number; dueAtMs?: number },
  verdict?: Verdict,
): Round {
  const change = verdict ? toChange(verdict) : {};
  const receipt = await scene.commit(run, {
    ...change,
    move: { to: "waiting", wakes: snapshot.wakes, ...rest },
  });
  if (!receipt.held) return LEFT;
  if (receipt.state !== "waiting") return undefined;
  const steps = [...snapshot.steps, ...(verdict?.steps ?? [])];
  const dueTimes = [
    rest.dueAtMs,
    ...steps.map((step) => (step.state === "pending" ? step.dueAtMs : undefined)),
  ].filter((due) => typeof due === "number");
  return { kind: "parked", dueAtMs: dueTimes.length > 0 ? Math.min(...dueTimes) : undefined };
}

/**
 * Ends the run. The same transaction writes the result of the step that invoked the run and, after a failure, the
 * failure's event and the runs of its handlers.
 */
async function end(
  scene: PlayScene,
  run: HeldRun,
  verdict: Verdict,
  next: Extract<Verdict["next"], { kind: "completed" | "failed" }>,
): Round {
  const { hasParent } = run;
  const change = toChange(verdict);
  // The steps of an ended run are never read, so `complete` does not write the steps of the last answer.
  if (next.kind === "completed" && !hasParent && verdict.runs.length === 0) {
    await scene.complete(run, next.output);
    return OVER;
  }
  if (next.kind === "completed") {
    await scene.commit(run, { ...change, move: { to: "completed", output: next.output, hasParent } });
    return OVER;
  }
  const failure = planFailure(scene, run, next.error);
  const { held } = await scene.commit(run, {
    ...change,
    events: [...verdict.events, ...failure.events],
    runs: [...verdict.runs, ...failure.runs],
    move: { to: "failed", error: next.error, hasParent },
  });
  // Nothing else reports this failure, for example that of a cron function.
  if (held && failure.runs.length === 0 && !hasParent)
    scene.logger.warn(
      { err: next.error, functionId: run.functionId, functionRunId: run.id },
      "function run failed",
    );
  return OVER;
}

/** Plans the event of a failure and the runs that the event starts. The failure of a failure handler starts no runs. */
function planFailure({ clock, registry }: PlayScene, run: HeldRun, error: SerializedError) {
  const data = { function_id: run.functionId, run_id: run.id, error, event: run.event };
  const event = { id: `failed:${run.id}`, name: INTERNAL_EVENTS.failed, data, ts: clock.now() };
  const runs = run.event.name === INTERNAL_EVENTS.failed ? [] : registry.planRuns(event);
  return { events: runs.length > 0 ? [event] : [], runs };
}
