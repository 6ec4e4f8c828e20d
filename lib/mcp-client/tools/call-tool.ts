import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { type McpConnection, STATELESS } from "../connection/mcp-connection.ts";
import { isClosed, McpFailure, toMcpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import type { InputGiven, InputRequired } from "./input-required.ts";
import { type ParamHeader, toParamHeaders } from "./param-headers.ts";
import { callResultSchema, type RawAnswer, readAnswer } from "./read-answer.ts";
import { runTask } from "./run-task.ts";

/** Controls the timeouts of a call. They are paused while a person is asked a question. */
export type CallClock = { pause: () => void; resume: () => void };

/** A call, as it is sent to the server. */
type SentCall = {
  tool: string;
  input: Record<string, unknown>;
  /** Whether the tool has to be called as a task. */
  isTask?: boolean | undefined;
  /** The parameters that are also sent as headers. */
  paramHeaders?: readonly ParamHeader[] | undefined;
  /** The trace context of the call. */
  traceparent: string;
  /** What the server has asked for; only in the revision 2026-07-28. */
  given?: InputGiven | undefined;
};

/** The error code with which a server says that the headers of a call do not fit its input. */
const HEADER_MISMATCH = -32020;

/** Whether a server says that the headers of a call do not fit its input. If so, it has not run the call. */
export const isHeaderMismatch = (error: unknown): boolean =>
  error instanceof McpError && error.code === HEADER_MISMATCH;

/**
 * Calls a tool and waits for its answer. The call is cancelled when the server is silent for too long, when the call
 * takes too long in total, or when `signal` fires. The server is notified of the cancellation.
 *
 * @param onClock receives the call's clock before the call is sent.
 * @throws McpFailure if the server gave no answer; McpError if the headers do not fit, see {@link isHeaderMismatch}.
 */
export async function callTool(
  connection: McpConnection,
  call: SentCall,
  limits: McpLimits,
  signal: AbortSignal,
  onClock: (clock: CallClock) => void = () => {},
): Promise<RawAnswer | InputRequired> {
  const clock = startClock(limits, signal);
  onClock(clock);
  try {
    // The SDK's own timeout cannot be paused while a person is asked, so it is set so high that it never fires.
    const options = { signal: clock.signal, timeout: 2_000_000_000, onprogress: clock.restart };
    if (call.isTask && connection.client)
      return await runTask(connection.client, { call, keepMs: limits.callMs + limits.answerMs, options });
    const { tool, input, traceparent, paramHeaders = [], given } = call;
    const request = {
      method: "tools/call",
      params: { name: tool, arguments: input, ...given, _meta: { traceparent } },
    };
    const headers = toParamHeaders(paramHeaders, input);
    const result = await connection.request(request, callResultSchema, { ...options, headers });
    if (connection.revision !== STATELESS) return readAnswer(result);
    const { resultType, inputRequests, requestState } = result;
    if (resultType === "input_required")
      return { requests: inputRequests ?? {}, ...(typeof requestState === "string" && { requestState }) };
    if ((resultType ?? "complete") !== "complete")
      throw new McpFailure("the server's answer is of a kind that is not known here");
    return readAnswer(result);
  } catch (error) {
    if (clock.signal.aborted) throw new McpFailure(String(clock.signal.reason));
    if (isHeaderMismatch(error)) throw error;
    if (isServerError(error)) return { isError: true, parts: [{ type: "text", text: error.message }] };
    throw toMcpFailure(error);
  } finally {
    clock.end();
  }
}

/** Whether an error is the server's answer to the call, for example about invalid input. */
const isServerError = (error: unknown): error is McpError => error instanceof McpError && !isClosed(error);

/** Starts the two timeouts of a call: one for the server's silence, and one for the call's total time. */
function startClock({ callIdleMs, callMs }: McpLimits, caller: AbortSignal) {
  const controller = new AbortController();
  let idle: NodeJS.Timeout | undefined;
  let total: NodeJS.Timeout | undefined;
  let leftMs = callMs;
  let runningSince = 0;
  let pauses = 0;
  const abort = (reason: string) => controller.abort(reason);
  const restart = () => {
    if (pauses > 0 || controller.signal.aborted) return;
    clearTimeout(idle);
    idle = setTimeout(abort, callIdleMs, `the server was silent for ${callIdleMs / 1_000} s`);
  };
  const stop = () => {
    clearTimeout(idle);
    clearTimeout(total);
  };
  const start = () => {
    runningSince = performance.now();
    total = setTimeout(abort, leftMs, `the call took longer than ${callMs / 1_000} s`);
    restart();
  };
  const onAbort = () => abort("the turn was stopped");
  if (caller.aborted) onAbort();
  else caller.addEventListener("abort", onAbort, { once: true });
  start();
  return {
    signal: controller.signal,
    restart,
    pause() {
      if (++pauses > 1) return;
      leftMs = Math.max(0, leftMs - (performance.now() - runningSince));
      stop();
    },
    resume() {
      if (--pauses === 0) start();
    },
    end() {
      stop();
      // A question may still be open when the call ends; its `resume` must not restart the timers.
      pauses = Number.POSITIVE_INFINITY;
      caller.removeEventListener("abort", onAbort);
    },
  };
}
