import type { StepRow } from "../engine-store/engine-store.ts";
import { parseJson } from "../parse-json.ts";
import type { EngineEvent, Op, SerializedError } from "../protocol.ts";
import { opsSchema, parseRetryAfter, toSerializedError } from "../protocol.ts";
import type { FunctionHandler } from "../serve-in-process.ts";

/** One call of a function: it either continues the function or runs one planned step. */
type Invocation = {
  functionId: string;
  runId: string;
  /** Contains the run's id and epoch. The SDK sends it back with every checkpoint of the call. */
  ticket: string;
  event: EngineEvent;
  /** The run's steps, in the order in which they ended. */
  steps: readonly StepRow[];
  attempt: number;
  maxAttempts: number;
  /** A planned step to run; undefined to continue the function. */
  stepId?: string | undefined;
};

/** The SDK's answer. `retryAtMs`: when the next attempt should begin, in ms since the epoch, if the SDK names a time. */
export type Answer =
  | { kind: "ops"; ops: Op[]; retryAtMs: number | undefined }
  | { kind: "failed"; error: SerializedError; isFinal: boolean; retryAtMs: number | undefined };

/** Composes the body of a call, from copies, because a function may change the event and the step results it receives. */
function toBody(call: Invocation): Record<string, unknown> {
  const ended = call.steps.filter((step) => step.state !== "pending");
  const event = structuredClone(call.event);
  return {
    // With -1, the SDK uses its preferred execution version. This is safe, because all runs of this process use the
    // same SDK.
    version: -1,
    event,
    events: [event],
    steps: Object.fromEntries(
      ended.map(({ stepId, state, output, error }) => [
        stepId,
        structuredClone(state === "done" ? { type: "data", data: output } : { type: "error", error }),
      ]),
    ),
    ctx: {
      run_id: call.runId,
      fn_id: call.functionId,
      qi_id: call.ticket,
      attempt: call.attempt,
      max_attempts: call.maxAttempts,
      disable_immediate_execution: false,
      use_api: false,
      stack: { stack: ended.map(({ stepId }) => stepId), current: Math.max(0, ended.length - 1) },
    },
  };
}

/** Calls a function through the SDK's handler and reads its answer. A malformed answer is a failure without a retry. */
export async function invokeFunction(
  handler: FunctionHandler,
  call: Invocation,
  nowMs: () => number,
): Promise<Answer> {
  const { functionId, stepId = "step" } = call;
  const answer = await handler({ method: "POST", functionId, stepId, body: toBody(call) });
  const retryAtMs = parseRetryAfter(answer.headers["retry-after"], nowMs());
  const body = parseJson(answer.body);
  if (answer.status === 206) {
    const ops = opsSchema.safeParse(body);
    if (ops.success) return { kind: "ops", ops: ops.data, retryAtMs };
    const message = `The embedded engine cannot play this answer: ${answer.body.slice(0, 500)}`;
    return { kind: "failed", error: { name: "Error", message }, isFinal: true, retryAtMs: undefined };
  }
  if (answer.status === 200)
    return { kind: "ops", ops: [{ op: "RunComplete", id: "complete", data: body }], retryAtMs };
  const isFinal = answer.headers["x-inngest-no-retry"] === "true";
  return { kind: "failed", error: toSerializedError(body), isFinal, retryAtMs };
}
