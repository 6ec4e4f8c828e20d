import type { Database } from "#db/client.ts";
import type { FollowUpMode } from "#db/schema/unions.ts";
import { findRequest, findRunByAttempt } from "../run/run-store.ts";
import { listQueuedRequests, replaceQueuedText } from "../transcript/transcript-store.ts";
import { withdrawSteer } from "./steering.ts";

/** A message that waits: `steer` to be read by the turn at work, the others for a turn of their own. */
type QueuedMessage = {
  requestId: string;
  mode: FollowUpMode;
  text: string;
  author: string | null;
  createdAt: string;
};

/** The messages that wait, in the order in which the agent gets them. */
export async function listQueue(db: Database, sessionId: string): Promise<QueuedMessage[]> {
  const rows = await listQueuedRequests(db, sessionId);
  return rows.map(({ request, message, run }) => ({
    requestId: request.id,
    // A steer that found no turn to join, or whose turn ended without it, has become a request like any other.
    mode: run === null ? "steer" : request.mode === "interrupt" ? "interrupt" : "queue",
    text: message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n"),
    author: message.author,
    createdAt: message.createdAt.toISOString(),
  }));
}

/** A message that is taken back: the pending run whose cancelling ends its request, or why there is none. */
type Withdrawal = { status: "waiting"; runId: string } | { status: "unknown" } | { status: "started" };

/** Finds the run whose cancelling takes a waiting message back; a steer gets one, and leaves the turn that it joined. */
export async function withdrawQueued(
  db: Database,
  sessionId: string,
  requestId: string,
): Promise<Withdrawal> {
  const request = await findRequest(db, sessionId, requestId);
  if (!request) return { status: "unknown" };
  const own = await findRunByAttempt(db, requestId, 1);
  if (own) return own.state === "pending" ? { status: "waiting", runId: own.id } : { status: "started" };
  const runId = await withdrawSteer(db, sessionId, requestId);
  return runId === undefined ? { status: "started" } : { status: "waiting", runId };
}

/** Replaces the text of a message that still waits. */
export async function editQueued(
  db: Database,
  sessionId: string,
  requestId: string,
  text: string,
): Promise<"edited" | "unknown" | "started"> {
  if (await replaceQueuedText(db, sessionId, requestId, text)) return "edited";
  return (await findRequest(db, sessionId, requestId)) ? "started" : "unknown";
}
