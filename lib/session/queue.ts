import type { Database, Executor } from "#db/client.ts";
import { listQueuedRequests, replaceQueuedText } from "./message-store.ts";
import { findRequest, findRunByAttempt } from "./run-store.ts";
import { lockSession } from "./store.ts";

/** A message that waits for its turn. */
export type QueuedMessage = { requestId: string; text: string; author: string | null; createdAt: string };

/** The messages that wait, in the order of their turns. */
export async function listQueue(db: Database, sessionId: string): Promise<QueuedMessage[]> {
  const rows = await listQueuedRequests(db, sessionId);
  return rows.map(({ request, message }) => ({
    requestId: request.id,
    text: message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
    author: message.author,
    createdAt: message.createdAt.toISOString(),
  }));
}

type QueuedState = { status: "waiting"; runId: string } | { status: "unknown" } | { status: "started" };

/** Whether a request still waits, and the run that cancelling it would end. */
export async function findQueued(db: Executor, sessionId: string, requestId: string): Promise<QueuedState> {
  const request = await findRequest(db, sessionId, requestId);
  const run = request && (await findRunByAttempt(db, requestId, 1));
  if (!run) return { status: "unknown" };
  return run.state === "pending" ? { status: "waiting", runId: run.id } : { status: "started" };
}

/** Replaces the text of a message that still waits. */
export function editQueued(
  db: Database,
  sessionId: string,
  requestId: string,
  text: string,
): Promise<"edited" | "unknown" | "started"> {
  return db.transaction(async (tx) => {
    await lockSession(tx, sessionId);
    const { status } = await findQueued(tx, sessionId, requestId);
    if (status !== "waiting") return status;
    return (await replaceQueuedText(tx, requestId, text)) ? "edited" : "started";
  });
}
