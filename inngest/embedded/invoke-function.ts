import { parseJson } from "./parse-json.ts";
import type { EngineEvent, Op, SerializedError } from "./protocol.ts";
import { opsSchema, parseRetryAfter, toSerializedError } from "./protocol.ts";
import type { StepRow } from "./store.ts";

/** The SDK's request handler, called in process. */
export type FunctionHandler = (request: Request) => Promise<Response>;

/** The recorded ends of a run's steps, and the order they came in, as JSON text. */
export type Replay = { steps: string; stack: string };

/** One call of a function: to discover what comes next, or to run one planned step. */
export type Invocation = {
  functionId: string;
  runId: string;
  /** Comes back with every checkpoint of this call. */
  ticket: string;
  event: EngineEvent;
  /** What the run has behind it, written once for all calls of one round. */
  replay: Replay;
  attempt: number;
  maxAttempts: number;
  /** A planned step to run, or undefined to let the function run on. */
  stepId?: string | undefined;
};

/** What the SDK answered; `retryAtMs` is its own wish for the next attempt, in ms since the epoch. */
export type Answer =
  | { kind: "ops"; ops: Op[]; retryAtMs: number | undefined }
  | { kind: "failed"; error: SerializedError; isFinal: boolean; retryAtMs: number | undefined };

/** Writes the recorded steps (in the order they ended) the way a call carries them. */
export function toReplay(steps: readonly StepRow[]): Replay {
  const ended = steps.filter((step) => step.state !== "pending");
  const results = ended.map((step) => [
    step.stepId,
    step.state === "done" ? { type: "data", data: step.output } : { type: "error", error: step.error },
  ]);
  const stack = ended.map((step) => step.stepId);
  return {
    steps: JSON.stringify(Object.fromEntries(results)),
    stack: JSON.stringify({ stack, current: Math.max(0, stack.length - 1) }),
  };
}

function toBody(call: Invocation): string {
  const context = JSON.stringify({
    run_id: call.runId,
    fn_id: call.functionId,
    qi_id: call.ticket,
    attempt: call.attempt,
    max_attempts: call.maxAttempts,
    disable_immediate_execution: false,
    use_api: false,
  });
  const event = JSON.stringify(call.event);
  const { steps, stack } = call.replay;
  return `{"version":2,"event":${event},"events":[${event}],"steps":${steps},"ctx":${context.slice(0, -1)},"stack":${stack}}}`;
}

/** Calls a function through the SDK's handler and reads its answer; a malformed answer is a failed attempt. */
export async function invokeFunction(
  handler: FunctionHandler,
  call: Invocation,
  nowMs: () => number,
): Promise<Answer> {
  const query = new URLSearchParams({ fnId: call.functionId, stepId: call.stepId ?? "step" });
  const response = await handler(
    new Request(`http://inngest.embedded/api/inngest?${query}`, {
      method: "POST",
      headers: { host: "inngest.embedded", "content-type": "application/json" },
      body: toBody(call),
    }),
  );
  const text = await response.text();
  const retryAtMs = parseRetryAfter(response.headers.get("retry-after"), nowMs());
  const body = parseJson(text);
  if (response.status === 206) {
    const ops = opsSchema.safeParse(body);
    if (ops.success) return { kind: "ops", ops: ops.data, retryAtMs };
    const message = `The embedded engine cannot play this answer: ${text.slice(0, 500)}`;
    return { kind: "failed", error: { name: "Error", message }, isFinal: true, retryAtMs: undefined };
  }
  if (response.status === 200)
    return { kind: "ops", ops: [{ op: "RunComplete", id: "complete", data: body }], retryAtMs };
  const isFinal = response.headers.get("x-inngest-no-retry") === "true";
  return { kind: "failed", error: toSerializedError(body), isFinal, retryAtMs };
}
