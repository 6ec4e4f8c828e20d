import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { CreateTaskResultSchema, type Task } from "@modelcontextprotocol/sdk/types.js";
import { McpFailure, toMcpFailure } from "../mcp-error.ts";
import { callResultSchema, type RawAnswer, readAnswer } from "./read-answer.ts";

/** Limits on the interval between two looks at a task, in milliseconds. */
const POLL_MIN_MS = 250;
const POLL_MAX_MS = 5_000;
const POLL_DEFAULT_MS = 1_000;
const CANCEL_TIMEOUT_MS = 1_000;

type TaskCall = {
  call: { tool: string; input: Record<string, unknown>; traceparent: string };
  /** How long the server should keep the task, in milliseconds. */
  keepMs: number;
  /** The options of each request. `onprogress` is also called when the server has answered a look at the task. */
  options: { signal: AbortSignal; timeout: number; onprogress: () => void };
};

/**
 * Calls a tool as a task: the server answers at once with a task, which is looked at until it has ended or needs input.
 * Then its result is read; the answer to that request waits for the end of the task, and questions of the server arrive
 * before it. If the call is given up, the server is told to cancel the task. Source: Model Context Protocol 2025-11-25,
 * Tasks.
 *
 * @throws McpFailure if the server gave no answer. Once the task exists, the failure is never a lost session, because a
 * repeated call would be a second task.
 */
export async function runTask(client: Client, { call, keepMs, options }: TaskCall): Promise<RawAnswer> {
  const { tasks } = client.experimental;
  const { tool, input, traceparent } = call;
  const params = { name: tool, arguments: input, _meta: { traceparent } };
  const request = { method: "tools/call", params } as const;
  const created = await client.request(request, CreateTaskResultSchema, {
    ...options,
    task: { ttl: keepMs },
  });
  const { taskId } = created.task;
  try {
    let task: Task = created.task;
    while (task.status === "working") {
      await sleep(readPollMs(task), undefined, { signal: options.signal });
      task = await tasks.getTask(taskId, options);
      options.onprogress();
    }
    if (task.status === "cancelled") return CANCELLED;
    return readAnswer(await tasks.getTaskResult(taskId, callResultSchema, options));
  } catch (error) {
    if (options.signal.aborted) tasks.cancelTask(taskId, { timeout: CANCEL_TIMEOUT_MS }).catch(() => {});
    const failure = toMcpFailure(error);
    throw failure.isSessionLost ? new McpFailure(failure.message) : error;
  }
}

const CANCELLED: RawAnswer = {
  isError: true,
  parts: [{ type: "note", text: "The tool server cancelled the task." }],
};

const readPollMs = ({ pollInterval = POLL_DEFAULT_MS }: Task): number =>
  Math.min(POLL_MAX_MS, Math.max(POLL_MIN_MS, pollInterval));
