import { and, asc, desc, eq, isNotNull, isNull } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { messages, requests, runs } from "#db/schema/index.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import type { RequestRow } from "./run-store.ts";

export type MessageRow = typeof messages.$inferSelect;
export type NewMessageRow = typeof messages.$inferInsert;

/** The messages that a request brought, in order; also while they wait outside the transcript. */
export function listRequestMessages(db: Executor, requestId: string): Promise<MessageRow[]> {
  return db
    .select()
    .from(messages)
    .where(and(eq(messages.requestId, requestId), isNull(messages.runId)))
    .orderBy(asc(messages.index));
}

/** Requests whose messages wait for their turn, in order. */
export async function listQueuedRequests(
  db: Executor,
  sessionId: string,
): Promise<{ request: RequestRow; message: MessageRow }[]> {
  return db
    .select({ request: requests, message: messages })
    .from(messages)
    .innerJoin(requests, eq(requests.id, messages.requestId))
    .innerJoin(runs, and(eq(runs.requestId, requests.id), eq(runs.state, "pending"), eq(runs.attempt, 1)))
    .where(
      and(
        eq(messages.sessionId, sessionId),
        isNull(messages.seq),
        isNull(messages.runId),
        eq(messages.role, "user"),
      ),
    )
    .orderBy(asc(requests.position), asc(messages.index));
}

/** Replaces the text of a request's last waiting user message. @returns whether one was waiting. */
export async function replaceQueuedText(tx: Transaction, requestId: string, text: string): Promise<boolean> {
  const waiting = await listRequestMessages(tx, requestId);
  const last = waiting.findLast((message) => message.role === "user" && message.seq === null);
  if (!last) return false;
  await tx
    .update(messages)
    .set({ parts: [{ type: "text", text }] })
    .where(eq(messages.id, last.id));
  return true;
}

/** The latest messages of the transcript, oldest first. */
export async function listRecentMessages(
  db: Executor,
  sessionId: string,
  limit: number,
): Promise<TranscriptMessage[]> {
  const rows = await db
    .select()
    .from(messages)
    .where(and(eq(messages.sessionId, sessionId), isNotNull(messages.seq)))
    .orderBy(desc(messages.seq))
    .limit(limit);
  return rows.toReversed().map((row) => toTranscriptMessage(row, row.seq ?? 0));
}

/** A message as events and lists show it, at its place in the transcript. */
export const toTranscriptMessage = (row: Omit<MessageRow, "seq">, seq: number): TranscriptMessage => ({
  id: row.id,
  seq,
  role: row.role,
  parts: row.parts,
  requestId: row.requestId,
  runId: row.runId,
  author: row.author,
  createdAt: row.createdAt.toISOString(),
});
