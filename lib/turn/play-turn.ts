import { compactContext } from "./compaction/compact-context.ts";
import { claimRun } from "./phases/claim-run.ts";
import { closeRun } from "./phases/close-run.ts";
import type { RunEnd } from "./phases/describe-end.ts";
import { openRun } from "./phases/open-run.ts";
import { composeTools } from "./prompt/compose-tools.ts";
import { recordFirstLook } from "./prompt/record-first-look.ts";
import { recordChangedState } from "./prompt/record-state.ts";
import { StaleClaimError } from "./record/claim.ts";
import type { PlayJob } from "./record/turn-store.ts";
import { parkRun } from "./run/park-run.ts";
import { OutOfTimeError } from "./run/play-time.ts";
import { recordStep } from "./run/record-step.ts";
import {
  browserSessionOf,
  currentCallNumber,
  findRecorded,
  isStopped,
  type RunInPlay,
} from "./run/run-in-play.ts";
import { STOPPED_REASON } from "./run/stop-registry.ts";
import type { TurnDeps } from "./run/turn-deps.ts";
import { awaitAgents, hasMoreToDo, ownWait } from "./step/await-agents.ts";
import { callModelWithCompaction } from "./step/call-model-with-compaction.ts";
import { dropComposed } from "./step/compose-ahead.ts";
import { findUnanswered } from "./step/find-unanswered.ts";
import type { PlannedCall } from "./step/model-step.ts";
import { readSteers } from "./step/read-steers.ts";
import { answerFromStore, endUnfinishedCalls, hasSubmitted, runTools } from "./step/run-tools.ts";
import { endUnfinished } from "./step/unfinished-answer.ts";
import { waitForBudget } from "./step/wait-for-budget.ts";
import {
  beginCollection,
  collectDeliverable,
  hasBegunCollection,
  toDeliverable,
} from "./structured/collect-deliverable.ts";
import { hasBegunProbe, probeRun } from "./structured/probe-run.ts";
import type { SchemaChecker } from "./structured/schema-checker.ts";

/**
 * Why an executor stopped playing a run. `ended`: the run has ended. `paused`: the executor stopped between two steps,
 * because its time was up or the process is ending. `parked`: the run waits, for example for a person or for
 * sub-agents. For `later` and `not_claimable` see `ClaimResult` in `phases/claim-run.ts`.
 */
export type Played =
  | { status: "ended" | "paused" | "parked" | "not_claimable" }
  | { status: "later"; delayMs: number };

const STOPPED: RunEnd = { outcome: "cancelled", reason: STOPPED_REASON };

/** Ends {@link playSteps} when the run was stopped. Nothing outside this file sees it. */
class RunStopped extends Error {}

function throwIfStopped(run: RunInPlay): void {
  if (isStopped(run)) throw new RunStopped();
}

/** Waits for a step. @throws RunStopped if the run was stopped meanwhile. */
async function unlessStopped<Result>(run: RunInPlay, step: Promise<Result>): Promise<Result> {
  const result = await step;
  throwIfStopped(run);
  return result;
}

function endIfStopped(error: unknown): RunEnd | "paused" {
  if (error instanceof RunStopped) return STOPPED;
  if (error instanceof OutOfTimeError) return "paused";
  throw error;
}

/**
 * Plays a run from its last recorded step until the run ends or waits, or until the time of this executor is over. Each
 * step is recorded with its effects in one write before the next step begins, so another executor can continue after
 * it.
 * Source: `architecture.md`, How a request flows, 2 to 5.
 *
 * @throws StaleClaimError when another executor has claimed the run meanwhile, or the run has ended.
 * @throws ShutdownError when the process ends; the executor that resumes the run repeats the interrupted step.
 */
export async function playTurn(deps: TurnDeps, checker: SchemaChecker, job: PlayJob): Promise<Played> {
  deps.stops.throwIfShuttingDown();
  return deps.stops.withSignal(job.runId, (signal) => claimAndPlay(deps, checker, job, signal));
}

async function claimAndPlay(
  deps: TurnDeps,
  checker: SchemaChecker,
  job: PlayJob,
  signal: AbortSignal,
): Promise<Played> {
  const claimed = await claimRun(deps, job, signal);
  if (claimed.status !== "claimed") return claimed;
  const { run } = claimed;
  deps.spending.begin(run);
  try {
    return await playClaimed(deps, checker, run);
  } catch (error) {
    // The last write may have been committed although the connection broke. In that case its events were not published,
    // so the readers of the session check the log again.
    deps.log.recheck(run.claim.sessionId);
    throw error;
  } finally {
    dropComposed(run);
    deps.mcp.release(run.claim);
  }
}

async function playClaimed(deps: TurnDeps, checker: SchemaChecker, run: RunInPlay): Promise<Played> {
  const pauseAtMs = performance.now() + deps.settings.playBudgetMs;
  for (;;) {
    const end = await playSteps(deps, checker, run, pauseAtMs).catch(endIfStopped);
    if (end === "paused" || end === "parked") return { status: end };
    if (end.outcome === "cancelled") await endUnfinishedCalls(deps, run);
    // The outcome of a turn depends on whether its page was reached.
    if (end.outcome === "succeeded") await deps.browser.settle(browserSessionOf(run));
    const closed = await closeRun(deps, run, end);
    if (closed === "refused") throw new StaleClaimError(run.claim);
    if (closed === "ended") return { status: "ended" };
    // The run could not be closed, because a message or a request to stop arrived meanwhile. If there is a last answer,
    // recording it sets `isSteered` or `isCancelled`. Otherwise only a message can have kept the run open.
    if (end.outcome === "succeeded" && end.conclusion) await recordStep(deps, run, end.conclusion);
    else run.isSteered = true;
  }
}

/**
 * Plays steps until the run has to end or to wait, or until this executor's time is up. A structured run begins with
 * the probe of its schema, so that a refused schema costs no tool call and no request to the caller's tool servers.
 *
 * @throws RunStopped when the run was stopped.
 */
async function playSteps(
  deps: TurnDeps,
  checker: SchemaChecker,
  run: RunInPlay,
  pauseAtMs: number,
): Promise<RunEnd | "paused" | "parked"> {
  await unlessStopped(run, openRun(deps, run));
  if (run.claim.isStructured) {
    if (!hasBegunProbe(run) && (await parkIfExhausted(deps, run, currentCallNumber(run)))) return "parked";
    const probed = await unlessStopped(run, probeRun(deps, run, checker));
    if (probed.kind === "stopped") return STOPPED;
    if (probed.kind === "failed") return { outcome: "errored", failure: probed.failure };
  }
  await unlessStopped(run, composeTools(deps, run));
  await unlessStopped(run, recordFirstLook(deps, run));
  const { maxSteps } = deps.settings;
  const place = currentCallNumber(run);
  const isResumed = findRecorded(run, `model-${place}`) !== undefined;
  if (run.isSteered && !isResumed) await readSteers(deps, run, place);
  for (let number = place; number <= maxSteps; number++) {
    const isCalled = findRecorded(run, `model-${number}`) !== undefined;
    if (!isCalled && (await parkIfExhausted(deps, run, number))) return "parked";
    if (!isCalled) await recordChangedState(deps, run);
    const model = await callModelWithCompaction(deps, run, number);
    if (model.kind === "calling") await answerFromStore(deps, run, number, model);
    throwIfStopped(run);
    if (model.kind === "stopped") return STOPPED;
    if (model.kind === "failed") return { outcome: "errored", failure: model.failure };
    const isConclusion = model.kind === "concluded";
    if (isConclusion && !(await hasMoreToDo(deps, run, number)))
      return { outcome: "succeeded", conclusion: model.record, canContinue: number < maxSteps };
    if (isConclusion) await recordStep(deps, run, model.record);
    const calls = model.kind === "answered" ? model.calls : model.kind === "calling" ? [model.call] : [];
    if (await waitForCalls(deps, run, number, calls)) return "parked";
    const unanswered = calls.length > 0 ? await findUnanswered(deps, run) : undefined;
    if (unanswered !== undefined)
      return { outcome: "errored", failure: { message: unanswered, isRetryable: false } };
    const isUnfinished = model.kind === "answered" && model.unfinished !== undefined;
    const reason = endUnfinished(run, number);
    if (reason !== undefined) return { outcome: "errored", failure: { message: reason, isRetryable: false } };
    if (calls.some((call) => hasSubmitted(run, number, call)))
      return { outcome: "succeeded", canContinue: false };
    // At the step limit, or after the collection of the deliverable has begun, an unread message becomes a separate
    // turn.
    const mayRead = number < maxSteps && !hasBegunCollection(run);
    let hasRead = mayRead && run.isSteered && (await readSteers(deps, run, number + 1));
    while (calls.length === 0 && !isUnfinished && !hasRead) {
      const delegated = mayRead ? await awaitAgents(deps, run, number) : "none";
      if (delegated === "parked") return "parked";
      throwIfStopped(run);
      if (delegated === "read") break;
      if (mayRead && run.isSteered) {
        hasRead = await readSteers(deps, run, number + 1);
        continue;
      }
      const end = await finishRun(deps, checker, run, { number, mayRead });
      if (end !== "steered") return end;
      hasRead = await readSteers(deps, run, number + 1);
    }
    // A run that has just read a message does not wait for control of the browser: the model answers the message first.
    if (!hasRead && number < maxSteps && (await waitForControl(deps, run))) return "parked";
    throwIfStopped(run);
    const isProgress = number > place || !isResumed;
    if (isProgress && (performance.now() > pauseAtMs || deps.stops.isShuttingDown())) return "paused";
  }
  return {
    outcome: "errored",
    failure: { message: `step limit of ${maxSteps} reached`, isRetryable: false },
  };
}

/**
 * Runs the tool calls of an answer until all have results or the run is parked.
 *
 * @returns whether the run is parked.
 * @throws RunStopped when the run was stopped.
 */
async function waitForCalls(
  deps: TurnDeps,
  run: RunInPlay,
  number: number,
  calls: PlannedCall[],
): Promise<boolean> {
  for (;;) {
    const waits = await unlessStopped(run, runTools(deps, run, number, calls));
    if (waits.length === 0) return false;
    if (await parkRun(deps, run, waits)) return true;
    throwIfStopped(run);
  }
}

/**
 * Parks a run whose budget is used up, before its next model call. A message that joins the turn is read first.
 *
 * @param number the number of the next model call.
 * @returns whether the run is parked.
 * @throws RunStopped when the run was stopped and is not parked.
 */
async function parkIfExhausted(deps: TurnDeps, run: RunInPlay, number: number): Promise<boolean> {
  for (;;) {
    const waited = await waitForBudget(deps, run);
    if (waited === "parked") return true;
    if (waited === "free") {
      throwIfStopped(run);
      return false;
    }
    await readSteers(deps, run, number);
  }
}

/** Parks the run if it can use the browser and a person has control of that browser. @returns whether the run is parked. */
async function waitForControl(deps: TurnDeps, run: RunInPlay): Promise<boolean> {
  if (!run.prompt.tools.has("browser_execute")) return false;
  if (deps.control.holderOf(browserSessionOf(run)) === undefined) return false;
  return parkRun(deps, run, [ownWait({ kind: "control", subjects: [] })]);
}

/**
 * Decides how a run ends when its model makes no more tool calls. The deliverable of a structured run is collected
 * first.
 *
 * @param at.number the number of the last model call.
 * @param at.mayRead whether the turn can still read a message that arrives now.
 * @returns `steered` if the turn has to read a message before the collection begins, `parked` if the budget is used up.
 * @throws RunStopped when the run was stopped.
 */
async function finishRun(
  deps: TurnDeps,
  checker: SchemaChecker,
  run: RunInPlay,
  { number, mayRead }: { number: number; mayRead: boolean },
): Promise<RunEnd | "steered" | "parked"> {
  if (!run.claim.isStructured) return { outcome: "succeeded", canContinue: mayRead };
  const waited = hasBegunCollection(run) ? "free" : await waitForBudget(deps, run);
  // A message that this turn can no longer read (`steered` without `mayRead`) becomes a separate turn. In that case,
  // the deliverable is collected at once, although the budget is used up.
  if (waited === "parked" || (waited === "steered" && mayRead)) return waited;
  throwIfStopped(run);
  if (findRecorded(run, "collect") === undefined) {
    const compacted = await unlessStopped(run, compactContext(deps, run, `collect-${number}`));
    if (compacted.kind === "stopped") return STOPPED;
    if (compacted.kind === "failed") return { outcome: "errored", failure: compacted.failure };
  }
  if (!(await beginCollection(deps, run, mayRead))) return "steered";
  throwIfStopped(run);
  const collected = await unlessStopped(run, collectDeliverable(deps, run, checker));
  if (collected.kind === "stopped") return STOPPED;
  // A retryable failure fails the run. After any other failure of the structured call, the turn succeeds with a failed
  // deliverable.
  if (collected.kind === "failed" && collected.failure.isRetryable)
    return { outcome: "errored", failure: collected.failure };
  return { outcome: "succeeded", deliverable: toDeliverable(run.claim.runId, collected), canContinue: false };
}
