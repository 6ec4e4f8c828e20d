import { eq } from "drizzle-orm";
import { steps } from "#db/schema/index.ts";
import type { TestService } from "#e2e/service/testing.ts";
import { only, readEvents, readStatus } from "#e2e/service/turn/turn-testing.ts";
import type { HistoryMessage } from "#lib/turn/history/history-entry.ts";
import type { Task } from "./task.ts";
import type { TaskSite } from "./task-site.ts";

/** The result of one task. */
export type TaskResult = {
  id: string;
  isSolved: boolean;
  modelCalls: number;
  toolCalls: number;
  toolErrors: number;
  /** Number of characters that the model received in tool results and in the first snapshot of the page. */
  charsRead: number;
  /** Characters of the instructions and tools of the first request. 0 if the requests are not recorded. */
  charsFixed: number;
  /** Characters of all requests of the task. 0 if the requests are not recorded: only the ideal solver records them. */
  charsTotal: number;
  seconds: number;
  /** Why the task was not solved: the error of the turn, or the outcome as JSON. Null if the task is solved. */
  remark: string | null;
};

const TASK_MS_MAX = 600_000;

/** Plays a task in a new session. Waits at most 10 minutes for the end of the turn. */
export async function playTask(service: TestService, site: TaskSite, task: Task): Promise<TaskResult> {
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
  const events = await readEvents(service, session.sessionId);
  const { deliverable } = await readStatus(service, session.sessionId);
  const reply = only(events, "message.completed").findLast(({ message }) => message.role === "assistant");
  const answer = (reply?.message.parts ?? [])
    .map((part) => ("text" in part ? String(part.text) : ""))
    .join("\n");
  const value = deliverable?.status === "ready" ? deliverable.value : null;
  const done = site.drainDone(task);
  const [end] = only(events, "run.completed");
  const isSolved = end?.outcome === "succeeded" && task.isSolved({ done, answer, value });
  await service.container.services.browser.closeSession(session.sessionId);
  return {
    id: task.id,
    isSolved,
    modelCalls: end?.usage.modelCalls ?? 0,
    toolCalls: end?.usage.toolCalls ?? 0,
    toolErrors: only(events, "tool.result").filter(({ state }) => state !== "succeeded").length,
    charsRead: await countRead(service, session.sessionId),
    ...countRequests(service, task),
    seconds: Math.round((performance.now() - startedMs) / 100) / 10,
    remark: isSolved
      ? null
      : (end?.error ?? JSON.stringify({ done, value, answer: answer.slice(0, 200) }).slice(0, 400)),
  };
}

function countRequests({ model }: TestService, task: Task): { charsFixed: number; charsTotal: number } {
  const requests = model.requests.filter(({ text }) => text.includes(`/${task.id}/`));
  const first = requests.find(({ kind }) => kind === "turn");
  return {
    charsFixed: first ? fixedLength(first.body) : 0,
    charsTotal: requests.reduce((sum, { body }) => sum + JSON.stringify(body).length, 0),
  };
}

/** The length of a request without its history, as JSON. */
function fixedLength(body: Record<string, unknown>): number {
  const isFixed = (message: unknown) =>
    typeof message === "object" &&
    message !== null &&
    "role" in message &&
    /^(system|developer)$/.test(String(message.role));
  const messages = (name: string) =>
    Array.isArray(body[name]) ? { [name]: body[name].filter(isFixed) } : {};
  return JSON.stringify({ ...body, ...messages("input"), ...messages("messages") }).length;
}

async function countRead(service: TestService, sessionId: string): Promise<number> {
  const { db } = service.container.services;
  const rows = await db
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
