import { randomUUID } from "node:crypto";
import { parseJson } from "../embedded/parse-json.ts";
import { type EngineEvent, type Op, opsSchema, parseRetryAfter } from "../embedded/protocol.ts";
import { canonicalise, isSigned, sign } from "./sign.ts";

/** `checkpointing`: the app reports steps during a call. `replay`: each call runs one step and reports it in its answer. */
export type Mode = "checkpointing" | "replay";

/** One call of a function. */
export type Call = {
  url: string;
  /** The server's own id for the function. The app uses another id for it. */
  functionUuid: string;
  runId: string;
  event: EngineEvent;
  /** Recorded results by hashed step id, in the order of recording and in the form in which a server sends them. */
  steps: ReadonlyMap<string, unknown>;
  /** The hashed id of a planned step; undefined to continue the function. */
  stepId: string | undefined;
  attempt: number;
  maxAttempts: number;
  /** Whether the call only plans steps without running them, as in a function with parallel steps. */
  isPlanOnly: boolean;
  /**
   * `itemId` identifies the item in the server's queue. `requestId` identifies this call for the item. `generation`
   * grows by one with each retry of the item.
   */
  ticket: { itemId: string; requestId: string; generation: number };
};

/** The app's answer. `failed`: any answer that a server treats as a failed attempt. */
export type Answer =
  | { kind: "ops"; ops: Op[]; retryAtMs: number | undefined }
  | { kind: "completed"; output: unknown }
  | { kind: "failed"; error: unknown; isFinal: boolean; retryAtMs: number | undefined };

/**
 * Composes the body of a call. With `isStateLeftOut`, the lists `events` and `steps` in the body are empty: the SDK
 * reads them from the API.
 */
export function composeBody(call: Call, mode: Mode, isStateLeftOut: boolean): string {
  const stack = [...call.steps.keys()];
  const { itemId } = call.ticket;
  return canonicalise({
    version: 2,
    event: call.event,
    events: isStateLeftOut ? [] : [call.event],
    steps: isStateLeftOut ? {} : Object.fromEntries(call.steps),
    ctx: {
      run_id: call.runId,
      env: "",
      step_id: "step",
      attempt: call.attempt,
      max_attempts: call.maxAttempts,
      disable_immediate_execution: call.isPlanOnly,
      use_api: isStateLeftOut,
      stack: { stack, current: Math.max(0, stack.length - 1) },
      // A server that does not support checkpoints does not send `fn_id` and `qi_id`.
      ...(mode === "checkpointing" && { fn_id: call.functionUuid, qi_id: itemId }),
    },
    use_api: isStateLeftOut,
  });
}

/**
 * Sends a call over HTTP and reads the answer as a server does. A connection that breaks is a failed attempt.
 *
 * @throws when an answer of the SDK with a status below 300 is not signed or not valid.
 */
export async function callApp(call: Call, body: string, signingKey: string): Promise<Answer> {
  const url = new URL(call.url);
  url.searchParams.set("stepId", call.stepId ?? "step");
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      body,
      headers: {
        "content-type": "application/json",
        "x-inngest-signature": sign(body, signingKey, Date.now()),
        "x-inngest-server-kind": "cloud",
        "x-run-id": call.runId,
        "x-request-id": call.ticket.requestId,
        "x-inngest-generation-id": String(call.ticket.generation),
      },
    });
    text = await response.text();
  } catch (error) {
    return { kind: "failed", error, isFinal: false, retryAtMs: undefined };
  }
  const retryAtMs = parseRetryAfter(response.headers.get("retry-after"), Date.now());
  const value = parseJson(text);
  if (response.status >= 300) {
    const isFinal = response.headers.get("x-inngest-no-retry") === "true";
    return { kind: "failed", error: value, isFinal, retryAtMs };
  }
  if (!isSigned(text, response.headers.get("x-inngest-signature"), signingKey))
    throw new Error(`The answer to ${url} is not signed.`);
  return response.status === 206
    ? { kind: "ops", ops: opsSchema.parse(value), retryAtMs }
    : { kind: "completed", output: value };
}

/** Creates the ids of a queue item and a call, as the server sends them to the SDK. */
export const newTicket = (generation: number, itemId: string = randomUUID()): Call["ticket"] => ({
  itemId,
  generation,
  requestId: randomUUID(),
});
