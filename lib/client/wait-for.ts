import { type Connection, callOperation } from "./call-operation.ts";
import { followEvents, type RequestRef } from "./follow-events.ts";
import { backoff, pause, TIMER_MS_MAX } from "./pause.ts";
import { ApiError, DeliverableError, isTransient, WaitTimeoutError } from "./service-error.ts";
import type { AgentStatus, Deliverable, RequestStatus } from "./wire.ts";

export type WaitOptions = {
  /**
   * How long to wait, in milliseconds. After this time, the wait rejects with a `WaitTimeoutError`; the session
   * continues. Default 15 minutes.
   */
  timeoutMs?: number | undefined;
  /** Aborts the wait. The wait then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * `stream` (default) follows the request's events. `poll` reads the status repeatedly; use it in networks that block
   * streams. A wait without a request id always polls. With `poll`, `waitForDeliverable` reads the request's stream
   * only if a later run has replaced the result in the status. The request is completed then, so the stream ends at once.
   */
  via?: "stream" | "poll" | undefined;
};

const TIMEOUT_MS = 15 * 60_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

/** Waits until a request is completed. @throws WaitTimeoutError, ApiError. */
export function waitForRequest(
  connection: Connection,
  request: RequestRef,
  { via = "stream", ...options }: WaitOptions = {},
): Promise<RequestStatus> {
  return limitTime(options, async (signal) => {
    if (via === "stream") for await (const _ of followEvents(connection, request, { signal }));
    return pollRequest(connection, request, signal);
  });
}

/** Reads the status of a request until the request is completed. */
function pollRequest(
  connection: Connection,
  { sessionId, requestId }: RequestRef,
  signal: AbortSignal,
): Promise<RequestStatus> {
  const read = () => callOperation(connection, "readRequestStatus", { sessionId, requestId }, { signal });
  return poll(read, ({ status }) => status === "completed", signal);
}

/**
 * Waits for the typed result of a request's turn. Without a request id, waits for the result of the session's newest
 * run.
 *
 * @throws DeliverableError if the run ended without a result; WaitTimeoutError; ApiError.
 */
export function waitForDeliverable(
  connection: Connection,
  { sessionId, requestId }: { sessionId: string; requestId?: string | undefined },
  { via = "stream", ...options }: WaitOptions = {},
): Promise<unknown> {
  return limitTime(options, async (signal) => {
    if (requestId !== undefined) {
      if (via === "poll") {
        const { runId } = await pollRequest(connection, { sessionId, requestId }, signal);
        const { deliverable } = await callOperation(connection, "readAgentStatus", { sessionId }, { signal });
        if (deliverable?.runId === runId && deliverable.status !== "pending") return readValue(deliverable);
      }
      let found: Deliverable | undefined;
      for await (const event of followEvents(connection, { sessionId, requestId }, { signal }))
        if (event.kind === "run.completed") found = event.deliverable;
      return readValue(found);
    }
    const read = () => callOperation(connection, "readAgentStatus", { sessionId }, { signal });
    const status = await poll(read, isSettled, signal);
    return readValue(status.deliverable ?? undefined);
  });
}

/**
 * Whether the turn has ended and the result of its last run is final. If the session has no `outputSchema`, it has no
 * results, and only the end of the turn counts. Source: specification, States and transitions (Turn state).
 */
const isSettled = ({ turnState, lastRunId, deliverable }: AgentStatus): boolean =>
  turnState === "idle" &&
  (deliverable === null || (deliverable.runId === lastRunId && deliverable.status !== "pending"));

function readValue(deliverable: Deliverable | undefined): unknown {
  if (deliverable?.status === "ready") return deliverable.value;
  if (deliverable?.status === "failed") throw new DeliverableError(deliverable);
  throw new ApiError({
    status: 0,
    code: "no_deliverable",
    message: "the session has no outputSchema, so its runs have no deliverable",
  });
}

/**
 * Calls `read` until `isEnough` is true. The delay grows with each read. After a transient error, the delay is at least
 * as long as the service requests.
 */
async function poll<Value>(
  read: () => Promise<Value>,
  isEnough: (value: Value) => boolean,
  signal: AbortSignal,
): Promise<Value> {
  let waitMs = FIRST_WAIT_MS;
  let failures = 0;
  for (;;) {
    try {
      const value = await read();
      if (isEnough(value)) return value;
      failures = 0;
      await pause(waitMs, signal);
      waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 1.5);
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
      await pause(backoff(++failures, 1_000, retryAfterMs), signal);
    }
  }
}

/** Runs `work` with a signal that aborts after `timeoutMs` or when the caller's signal aborts. */
async function limitTime<Value>(
  { timeoutMs = TIMEOUT_MS, signal }: Pick<WaitOptions, "timeoutMs" | "signal">,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const own = new AbortController();
  const abort = () => own.abort(signal?.reason);
  if (signal?.aborted) throw signal.reason;
  signal?.addEventListener("abort", abort, { once: true });
  const abortLate = () => own.abort(new WaitTimeoutError(timeoutMs));
  const timer = timeoutMs > TIMER_MS_MAX ? undefined : setTimeout(abortLate, timeoutMs);
  try {
    return await work(own.signal);
  } catch (error) {
    throw own.signal.aborted ? own.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}
