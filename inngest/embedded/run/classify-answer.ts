import { randomUUID } from "node:crypto";
import type { NewRun, StepWrite } from "../engine-store/engine-store.ts";
import {
  type EngineEvent,
  INTERNAL_EVENTS,
  type Op,
  parseDueTime,
  type SerializedError,
  toSerializedError,
} from "../protocol.ts";
import { compileExpression } from "../triggers/expression.ts";
import type { Backoff } from "./backoff.ts";
import type { Answer } from "./invoke-function.ts";

/** The consequences of an answer: what to write, and how the run continues. */
export type Verdict = {
  steps: StepWrite[];
  /** The events that start `runs`. */
  events: EngineEvent[];
  runs: NewRun[];
  next:
    | { kind: "completed"; output: unknown }
    | { kind: "failed"; error: SerializedError }
    | { kind: "retry"; attempt: number; dueAtMs: number }
    /** Steps that the SDK has planned. Each of them needs its own call. */
    | { kind: "planned"; steps: { stepId: string; name: string }[] }
    /** A step has ended, or the SDK asks for another call: the function can continue at once. */
    | { kind: "progressed" }
    /** The run waits for a timer, an event or the end of a run that it invoked. */
    | { kind: "parked" }
    /**
     * A checkpoint was refused, so the SDK stopped and its answer is ignored. Or the function was not called, because
     * this executor has to leave the run.
     */
    | { kind: "halted" };
};

/**
 * The call that was answered, the steps that already wait, and the current time on two clocks. Waits are measured on
 * the engine's clock (`nowMs`). Dates in the answer were computed on the machine's clock (`wallNowMs`).
 */
type Circumstances = {
  runId: string;
  attempt: number;
  maxAttempts: number;
  waitingStepIds: ReadonlySet<string>;
  nowMs: number;
  wallNowMs: number;
  backoff: Backoff;
};

/** The name of the SDK's error after a checkpoint was answered with 409. */
const STALE_DISPATCH = "StaleDispatchError";

const nameOf = (op: Op) => op.displayName ?? op.name ?? op.id;

/** The limits for the delay of a `RetryAfterError`, the same as those of an Inngest server. */
const SOONEST_RETRY_MS = 1_000;
const LATEST_RETRY_MS = 24 * 3_600_000;

/** Decides whether a failed attempt is retried. */
function classifyFailure(
  error: SerializedError,
  isFinal: boolean,
  retryAtMs: number | undefined,
  { attempt, maxAttempts, nowMs, wallNowMs, backoff }: Circumstances,
): Extract<Verdict["next"], { kind: "failed" | "retry" }> {
  if (isFinal || attempt + 1 >= maxAttempts) return { kind: "failed", error };
  if (retryAtMs === undefined)
    return { kind: "retry", attempt: attempt + 1, dueAtMs: nowMs + backoff(attempt) };
  const delayMs = Math.min(Math.max(retryAtMs - wallNowMs, SOONEST_RETRY_MS), LATEST_RETRY_MS);
  return { kind: "retry", attempt: attempt + 1, dueAtMs: nowMs + delayMs };
}

/** Creates the run that a `step.invoke` starts, and the event of that run. */
function invokeRun(runId: string, op: Extract<Op, { op: "InvokeFunction" }>, nowMs: number) {
  const data = op.opts.payload?.data ?? {};
  const event: EngineEvent = {
    id: `invoke:${runId}:${op.id}`,
    name: INTERNAL_EVENTS.invoked,
    data,
    ts: nowMs,
  };
  const parent = { runId, stepId: op.id };
  return { event, run: { id: randomUUID(), functionId: op.opts.function_id, eventId: event.id, parent } };
}

/**
 * Returns the pending step of an operation that waits; undefined for other operations. A date is converted to a delay
 * on the machine's clock, because the function computed the date on that clock.
 */
function toWait(op: Op, { nowMs, wallNowMs }: Circumstances): StepWrite | undefined {
  const step = { stepId: op.id, name: nameOf(op), state: "pending" } as const;
  const readDue = (text: string) => nowMs + parseDueTime(text, wallNowMs) - wallNowMs;
  if (op.op === "Sleep") return { ...step, kind: "sleep", dueAtMs: readDue(op.name) };
  if (op.op === "InvokeFunction") {
    const { timeout } = op.opts;
    return {
      ...step,
      kind: "invoke",
      dueAtMs: timeout === undefined ? undefined : readDue(timeout),
    };
  }
  if (op.op !== "WaitForEvent") return undefined;
  if (op.opts.if !== undefined) compileExpression(op.opts.if);
  const dueAtMs = readDue(op.opts.timeout);
  return { ...step, kind: "event", dueAtMs, eventName: op.name, expression: op.opts.if };
}

/**
 * Computes the consequences of an answer for the run's rows. Writes nothing: the caller applies the verdict.
 *
 * @throws if a wait has a time or an expression that this engine cannot parse. The caller then fails the run.
 */
export function classifyAnswer(answer: Answer, circumstances: Circumstances): Verdict {
  const { runId, nowMs, waitingStepIds } = circumstances;
  const verdict: Verdict = { steps: [], events: [], runs: [], next: { kind: "parked" } };
  if (answer.kind === "failed" && answer.error.name === STALE_DISPATCH)
    return { ...verdict, next: { kind: "halted" } };
  if (answer.kind === "failed")
    return {
      ...verdict,
      next: classifyFailure(answer.error, answer.isFinal, answer.retryAtMs, circumstances),
    };

  const planned: { stepId: string; name: string }[] = [];
  let end: Verdict["next"] | undefined;
  let hasProgressed = false;
  for (const op of answer.ops) {
    const step = { stepId: op.id, name: nameOf(op) };
    if (op.op === "RunComplete") end = { kind: "completed", output: op.data ?? null };
    else if (op.op === "StepPlanned") planned.push(step);
    else if (op.op === "DiscoveryRequest") hasProgressed = true;
    else if (op.op === "StepRun" || op.op === "Step") {
      verdict.steps.push({ ...step, state: "done", output: op.data ?? null });
      hasProgressed = true;
    } else if (op.op === "StepFailed" || op.op === "StepError") {
      const error = toSerializedError(op.error);
      const outcome = classifyFailure(error, op.op === "StepFailed", answer.retryAtMs, circumstances);
      if (outcome.kind === "retry") end ??= outcome;
      else {
        verdict.steps.push({ ...step, state: "failed", error });
        hasProgressed = true;
      }
    } else if (!waitingStepIds.has(op.id)) {
      const wait = toWait(op, circumstances);
      if (wait) verdict.steps.push(wait);
      if (op.op === "InvokeFunction") {
        const { event, run } = invokeRun(runId, op, nowMs);
        verdict.events.push(event);
        verdict.runs.push(run);
      }
    }
  }
  if (end) return { ...verdict, next: end };
  if (planned.length > 0) return { ...verdict, next: { kind: "planned", steps: planned } };
  return hasProgressed ? { ...verdict, next: { kind: "progressed" } } : verdict;
}
