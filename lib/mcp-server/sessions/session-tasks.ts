import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import { findStatus } from "#lib/session/store/run-store.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import type { ClientOffer } from "../client-offer.ts";
import { toRecord } from "../to-record.ts";
import type { ApiResult, SessionApi } from "./session-api.ts";
import { describeView, readSessionView } from "./session-view.ts";

/** A task of the extension, as `tasks/get` returns it. Source: decision 137. */
type Task = Record<string, unknown> & { taskId: string; status: string };

/** A request about a task that has no result, because the task is unknown or the request is invalid. */
type TaskProblem = { problem: string };

/** The session tasks of one caller. */
export type SessionTasks = {
  /** Converts the result of `start_session` to its task. */
  create: (result: CallToolResult) => Promise<Task | TaskProblem>;
  get: (taskId: string) => Promise<Task | TaskProblem>;
  /** Settles the items of the inbox that the task has asked for. Ignores items that are not open any more. */
  update: (
    taskId: string,
    responses: Record<string, unknown>,
  ) => Promise<Record<string, never> | TaskProblem>;
  /** Stops the turn of the task, unless it has ended. */
  cancel: (taskId: string) => Promise<Record<string, never> | TaskProblem>;
};

const POLL_INTERVAL_MS = 3_000;
const RESULT_MESSAGES = 5;
const UNKNOWN: TaskProblem = { problem: "there is no such task" };

type Item = Extract<ApiResult<"listSessionInbox">, { ok: true }>["body"]["data"][number];
type Ids = { sessionId: string; requestId: string };

/**
 * Creates the session tasks of a caller. A task is the request that `start_session` has made: its id is that of the session
 * and that of the request, so nothing about tasks is stored, and any process answers for any task.
 */
export function createSessionTasks(api: SessionApi, client: ClientOffer, signal: AbortSignal): SessionTasks {
  const { db } = api.services;

  /** Finds the request of a task. The operation checks that it belongs to the caller. */
  async function find(taskId: string): Promise<{ ids: Ids; isCompleted: boolean } | TaskProblem> {
    const ids = readTaskId(taskId);
    const read = ids && (await api.call("readRequestStatus", { params: ids, signal }));
    if (!ids || !read) return UNKNOWN;
    return read.ok ? { ids, isCompleted: read.body.status === "completed" } : toProblem(read);
  }

  async function get(taskId: string): Promise<Task | TaskProblem> {
    const request = await find(taskId);
    if ("problem" in request) return request;
    const { ids, isCompleted } = request;
    const session = await findSession(db, ids.sessionId);
    if (!session) return UNKNOWN;
    const task = {
      taskId,
      createdAt: session.createdAt.toISOString(),
      lastUpdatedAt: session.updatedAt.toISOString(),
      ttlMs: null,
      pollIntervalMs: POLL_INTERVAL_MS,
    };
    if (isCompleted) {
      const found = await findStatus(db, { ...ids, ownerId: session.ownerId });
      if (found.kind !== "found") return UNKNOWN;
      if (found.run.state === "cancelled") return { ...task, status: "cancelled" };
      const result = await readResult(ids, found.run.id, found.run.state === "errored");
      return "problem" in result ? result : { ...task, status: "completed", ...result };
    }
    const items = await readItems(ids);
    if (!Array.isArray(items)) return items;
    const inputRequests = Object.fromEntries(
      items.flatMap((item) => {
        const request = toInputRequest(item, client);
        return request ? [[item.id, request]] : [];
      }),
    );
    const [waiting] = items;
    return {
      ...task,
      status: Object.keys(inputRequests).length > 0 ? "input_required" : "working",
      ...(waiting && { statusMessage: `Waits for a person: ${waiting.title}` }),
      ...(Object.keys(inputRequests).length > 0 && { inputRequests }),
    };
  }

  /** Reads the final result of `start_session`: the session at the end of its first turn. */
  async function readResult(
    { sessionId, requestId }: Ids,
    runId: string,
    isError: boolean,
  ): Promise<{ result: CallToolResult } | TaskProblem> {
    const read = await readSessionView(api, sessionId, { count: RESULT_MESSAGES }, signal);
    if (!read.ok) return toProblem(read);
    const { view } = read;
    const structuredContent = { sessionId, requestId, runId, pageUrl: view.pageUrl, session: view };
    return { result: { content: [{ type: "text", text: describeView(view) }], structuredContent, isError } };
  }

  async function readItems({ sessionId }: Ids): Promise<Item[] | TaskProblem> {
    const listed = await api.call("listSessionInbox", {
      params: { sessionId },
      query: { state: "open", limit: 10 },
      signal,
    });
    return listed.ok ? listed.body.data : toProblem(listed);
  }

  return {
    async create({ structuredContent }) {
      const { sessionId, requestId, pageUrl } = toRecord(structuredContent);
      const task = await get(`${String(sessionId)}.${String(requestId)}`);
      // A client must not take the first state for the end, and it has no request to answer yet.
      return "problem" in task
        ? task
        : {
            ...pickSeed(task),
            resultType: "task",
            status: "working",
            statusMessage: `Page: ${String(pageUrl)}`,
          };
    },
    get,
    async update(taskId, responses) {
      const request = await find(taskId);
      if ("problem" in request) return request;
      const items = await readItems(request.ids);
      if (!Array.isArray(items)) return items;
      for (const item of items) {
        const body = toSettlement(item, toRecord(responses[item.id]));
        if (!body) continue;
        const params = { sessionId: request.ids.sessionId, itemId: item.id };
        const settled = await api.call("settleInboxItem", { params, body, signal });
        // Another answer may have come first.
        if (!settled.ok && settled.code !== "conflict") return toProblem(settled);
      }
      return {};
    },
    async cancel(taskId) {
      const request = await find(taskId);
      if ("problem" in request) return request;
      if (request.isCompleted) return {};
      const { sessionId } = request.ids;
      const stopped = await api.call("cancelTurn", { params: { sessionId }, signal });
      return stopped.ok ? {} : toProblem(stopped);
    },
  };
}

function readTaskId(taskId: string): Ids | undefined {
  const [, sessionId, requestId] = /^([\w-]{1,100})\.([\w-]{1,100})$/.exec(taskId) ?? [];
  return sessionId === undefined || requestId === undefined ? undefined : { sessionId, requestId };
}

const toProblem = ({ code, error }: { code: string; error: string }): TaskProblem =>
  code === "not_found" ? UNKNOWN : { problem: error };

const pickSeed = ({ taskId, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs }: Task) => ({
  taskId,
  createdAt,
  lastUpdatedAt,
  ttlMs,
  pollIntervalMs,
});

/** The field of a question without a form. */
const ANSWER_FIELD = "answer";

/**
 * Converts an item to a request to the client's person: a form for a question, a page for an approval or a handover. Undefined
 * if the client cannot ask this way, or if the item is only listed.
 */
function toInputRequest({ kind, title, body, form, options, answerUrl }: Item, client: ClientOffer) {
  const message = body === "" ? title : body;
  if (kind === "question" && client.fillsForms) {
    const description = options && `For example: ${options.join(", ")}`;
    const field = { type: "string", title: "Answer", ...(description && { description }) };
    const requestedSchema = form ?? {
      type: "object",
      properties: { [ANSWER_FIELD]: field },
      required: [ANSWER_FIELD],
    };
    return { method: "elicitation/create", params: { mode: "form", message, requestedSchema } };
  }
  if ((kind === "approval" || kind === "handover") && client.opensPages && answerUrl !== undefined)
    return { method: "elicitation/create", params: { mode: "url", message: title, url: answerUrl } };
  return undefined;
}

/** Converts a response to the body that settles its item. Undefined if the item stays open. */
function toSettlement({ kind, form }: Item, { action, content }: Record<string, unknown>) {
  // A page is only opened by its client: the person decides there.
  if (kind !== "question") return undefined;
  if (action === "decline") return { decline: true };
  if (action !== "accept") return undefined;
  return { answer: form ? content : toRecord(content)[ANSWER_FIELD] };
}
