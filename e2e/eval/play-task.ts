import { eq } from "drizzle-orm";
import { steps } from "#db/schema/index.ts";
import { only } from "#e2e/service/turn/turn-testing.ts";
import type { HistoryMessage } from "#lib/turn/history/history-entry.ts";
import type { CallCharacters } from "./count-characters.ts";
import type { EvalService } from "./eval-service.ts";
import type { Task } from "./task.ts";
import type { TaskSite } from "./task-site.ts";

/** The result of one task. */
export type TaskResult = CallCharacters & {
  id: string;
  isSolved: boolean;
  modelCalls: number;
  toolCalls: number;
  toolErrors: number;
  /** Number of characters that the model received in tool results and in the first snapshot of the page. */
  charsRead: number;
  seconds: number;
  /** Why the task was not solved: the error of the turn, or the outcome and the failures of tools as JSON. Null if it is solved. */
  remark: string | null;
};

const TASK_MS_MAX = 600_000;

/** Plays a task in a new session. Waits at most 10 minutes for the end of the turn. */
export async function playTask(
  service: EvalService,
  site: TaskSite,
  task: Task,
): Promise<Omit<TaskResult, keyof CallCharacters>> {
  const startedMs = performance.now();
  site.drainDone(task);
  const session = await service.create(task.ask, {
    targetUrl: site.urlOf(task),
    ...(task.schema && { outputSchema: task.schema }),
  });
  const isOver = async () =>
    (await service.read<{ status: string }>(session.statusUrl)).status === "completed";
  while (!(await isOver()) && performance.now() - startedMs < TASK_MS_MAX)
    await new Promise((resolve) => setTimeout(resolve, 100));
  const events = await service.readEvents(session.sessionId);
  const { deliverable } = await service.read<Status>(`/api/sessions/${session.sessionId}/agent/status`);
  const reply = only(events, "message.completed").findLast(({ message }) => message.role === "assistant");
  const answer = (reply?.message.parts ?? [])
    .map((part) => ("text" in part ? String(part.text) : ""))
    .join("\n");
  const value = deliverable?.status === "ready" ? deliverable.value : null;
  const done = site.drainDone(task);
  const [end] = only(events, "run.completed");
  const isSolved = end?.outcome === "succeeded" && task.isSolved({ done, answer, value });
  const failures = only(events, "tool.result").filter(({ state }) => state !== "succeeded");
  const charsRead = await countRead(service, session.sessionId);
  await service.endBrowser(session.sessionId);
  return {
    id: task.id,
    isSolved,
    modelCalls: end?.usage.modelCalls ?? 0,
    toolCalls: end?.usage.toolCalls ?? 0,
    toolErrors: failures.length,
    charsRead,
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
    remark: isSolved
      ? null
      : (end?.error ??
        JSON.stringify({
          done,
          value,
          answer: answer.slice(0, 200),
          failures: failures.map(({ preview }) => preview.slice(0, 200)),
        }).slice(0, 800)),
  };
}

type Status = { deliverable: { status: string; value?: unknown } | null };

async function countRead(service: EvalService, sessionId: string): Promise<number> {
  const rows = await service.db
    .select({ messages: steps.modelMessages })
    .from(steps)
    .where(eq(steps.sessionId, sessionId));
  let chars = 0;
  for (const message of rows.flatMap(({ messages }) => (messages ?? []) as HistoryMessage[])) {
    if (message.role === "tool")
      for (const part of message.content) if (part.type === "tool-result") chars += textLength(part.output);
    if (message.role === "user" && message.isAdded) chars += String(message.content).length;
  }
  return chars;
}

function textLength(output: { type: string; value?: unknown }): number {
  if (typeof output.value === "string") return output.value.length;
  return JSON.stringify(output.value ?? "").length;
}
