import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import type { McpConnection } from "../connection/open-connection.ts";
import { McpFailure, toMcpFailure } from "../mcp-error.ts";
import type { McpLimits } from "../mcp-limits.ts";
import { callResultSchema, type McpAnswer, readAnswer } from "./read-answer.ts";

/** A call that is under way: a question to a person stops its clocks. */
export type CallClock = { pause: () => void; resume: () => void };

/**
 * Calls a tool and waits for its answer: for as long as it is not silent, and not for ever. Where the time is over or
 * `signal` fires, the server is told that the call is cancelled.
 *
 * @param onClock is handed the call's clock before the call is sent.
 * @throws McpFailure where no answer came.
 */
export async function callTool(
  connection: McpConnection,
  asked: { tool: string; input: Record<string, unknown> },
  limits: McpLimits,
  signal: AbortSignal,
  onClock: (clock: CallClock) => void = () => {},
): Promise<McpAnswer> {
  const clock = startClock(limits, signal);
  onClock(clock);
  try {
    const result = await connection.client.request(
      { method: "tools/call", params: { name: asked.tool, arguments: asked.input } },
      callResultSchema,
      // The clock is ours: the SDK's cannot be stopped while a person is asked.
      { signal: clock.signal, timeout: 2_000_000_000, onprogress: clock.restart },
    );
    return readAnswer(result);
  } catch (error) {
    if (clock.signal.aborted) throw new McpFailure(String(clock.signal.reason));
    if (isOfServer(error)) return { isError: true, parts: [{ type: "text", text: error.message }] };
    throw toMcpFailure(error);
  } finally {
    clock.end();
  }
}

/** Whether an error is what the server answered, such as that the input does not fit. */
const isOfServer = (error: unknown): error is McpError =>
  error instanceof McpError && !(error.code === ErrorCode.ConnectionClosed && BROKEN.test(error.message));

/** How the SDK and we ourselves tell of a connection that ended; servers use the same code for errors of their own. */
const BROKEN = /: (Connection closed|the answer broke off)$/;

/** Two clocks over one call: how long it is silent, and how long it takes in all. */
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
      // Where an answer comes and goes, nobody resumes any more.
      pauses = Number.POSITIVE_INFINITY;
      caller.removeEventListener("abort", onAbort);
    },
  };
}
