import { type EarlierMessages, readEarlier } from "./read-earlier.ts";
import type { QueuedMessage, SessionSnapshot } from "./types.ts";

/** What became of something a person asked for: the answer, or a sentence to show. */
export type ActionOutcome<Answer> =
  | { isDone: true; answer: Answer }
  | { isDone: false; status: number; error: string };

/** What the page can do to its session, with the share cookie as the credential. Source: `wire.md`, Follow-ups. */
export type SessionActions = {
  sendMessage: (
    text: string,
  ) => Promise<ActionOutcome<{ requestId: string; runId: string; queued: boolean }>>;
  cancel: () => Promise<ActionOutcome<unknown>>;
  answer: (
    elicitationId: string,
    reply: { answer: string } | { decline: true },
  ) => Promise<ActionOutcome<unknown>>;
  readQueue: () => Promise<ActionOutcome<QueuedMessage[]>>;
  editQueued: (requestId: string, text: string) => Promise<ActionOutcome<unknown>>;
  removeQueued: (requestId: string) => Promise<ActionOutcome<unknown>>;
  /** Reads the messages from before the one numbered so. */
  readEarlier: (before: number) => Promise<ActionOutcome<EarlierMessages>>;
  moveBrowser: (
    move: { url: string } | { action: "back" | "forward" | "reload" },
  ) => Promise<ActionOutcome<unknown>>;
};

/** Makes the actions of one session. */
export function createSessionActions(
  { actions, messages }: Pick<SessionSnapshot["paths"], "actions" | "messages">,
  fetcher: typeof fetch = (...request) => fetch(...request),
): SessionActions {
  const call = <Answer>(method: string, path: string, body?: unknown) =>
    callAction<Answer>(fetcher, method, `${actions}${path}`, body);
  return {
    sendMessage: (text) => call("POST", "/messages", { text }),
    cancel: () => call("POST", "/cancel", {}),
    answer: (elicitationId, reply) => call("POST", `/elicitations/${elicitationId}`, reply),
    async readQueue() {
      const outcome = await call<{ data: QueuedMessage[] } | QueuedMessage[]>("GET", "/queue");
      if (!outcome.isDone) return outcome;
      return { isDone: true, answer: Array.isArray(outcome.answer) ? outcome.answer : outcome.answer.data };
    },
    editQueued: (requestId, text) => call("PATCH", `/queue/${requestId}`, { text }),
    removeQueued: (requestId) => call("DELETE", `/queue/${requestId}`),
    readEarlier: (before) => readEarlier(messages, before, fetcher),
    moveBrowser: (move) => call("POST", "/browser", move),
  };
}

/** Calls a route of the page's own and turns every way to fail into a sentence. Never throws. */
export async function callAction<Answer>(
  fetcher: typeof fetch,
  method: string,
  path: string,
  body?: unknown,
): Promise<ActionOutcome<Answer>> {
  const init: RequestInit = { method, credentials: "same-origin", signal: AbortSignal.timeout(30_000) };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  try {
    const response = await fetcher(path, init);
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok) return { isDone: true, answer: answer as Answer }; // Same service, same contract.
    return { isDone: false, status: response.status, error: sentenceOf(answer, response.status) };
  } catch {
    return {
      isDone: false,
      status: 0,
      error: "The service did not answer. Check that it runs, then try again.",
    };
  }
}

function sentenceOf(answer: unknown, status: number): string {
  if (
    typeof answer === "object" &&
    answer !== null &&
    "error" in answer &&
    typeof answer.error === "string"
  ) {
    return answer.error;
  }
  if (status === 401 || status === 403) return "This link does not allow that.";
  if (status === 404) return "The session was not found.";
  if (status === 429) return "Too many requests. Wait a moment, then try again.";
  return `The service answered with status ${status}.`;
}
