import type { Database } from "#db/client.ts";
import type { FollowUpMode } from "#db/schema/unions.ts";
import { findRequest, findRunByAttempt } from "../store/run-store.ts";
import { listQueuedRequests, replaceQueuedText } from "../store/transcript-store.ts";
import { withdrawSteer } from "./steering.ts";

/** A queued message. The current turn will read a `steer`; other messages get their own turn. */
type QueuedMessage = {
  requestId: string;
  mode: FollowUpMode;
  text: string;
  /** Paths of the attached files. */
  attachments: string[];
  /** Ids of the annotations that were sent with the message. */
  annotations: string[];
  author: string | null;
  createdAt: string;
};

/** Lists the queued messages in the order in which the agent will read them. */
export async function listQueue(db: Database, sessionId: string): Promise<QueuedMessage[]> {
  const rows = await listQueuedRequests(db, sessionId);
  return rows.map(({ request, message, run }) => ({
    requestId: request.id,
    // A steer that has its own run is listed as `queue`. Either the steer could join no turn, or the turn that it
    // joined did not read it.
    mode: run === null ? "steer" : request.mode === "interrupt" ? "interrupt" : "queue",
    text: message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n"),
    attachments: message.parts.flatMap((part) => (part.type === "attachment" ? [part.path] : [])),
    annotations: message.parts.flatMap((part) => (part.type === "annotation" ? [part.annotationId] : [])),
    author: message.author,
    createdAt: message.createdAt.toISOString(),
  }));
}

/** The result of a withdrawal: the pending run to cancel, or why the message cannot be withdrawn. */
type Withdrawal = { status: "waiting"; runId: string } | { status: "unknown" } | { status: "started" };

/**
 * Finds the pending run that the caller must cancel to withdraw a queued message. A steer has no such run: it is
 * removed from the turn that it joined, and a run is created for it.
 */
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

/** Replaces the text of a queued message. Its attached files and annotations stay. */
export async function editQueued(
  db: Database,
  sessionId: string,
  requestId: string,
  text: string,
): Promise<"edited" | "unknown" | "started"> {
  if (await replaceQueuedText(db, sessionId, requestId, text)) return "edited";
  return (await findRequest(db, sessionId, requestId)) ? "started" : "unknown";
}
