import { and, asc, desc, eq, gt, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Database, Executor } from "#db/client.ts";
import { messages, requests, runs, toolCalls } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import type { TranscriptMessage } from "#lib/events/event.ts";
import { PLAYING_ORDER, type RequestRow } from "./run-store.ts";

/** A message in the transcript. It has a `seq`, which a queued message does not have. */
type PlacedMessageRow = Omit<typeof messages.$inferSelect, "seq"> & { seq: number };

const inTranscript = (sessionId: string) => and(eq(messages.sessionId, sessionId), isNotNull(messages.seq));

/** Narrows the type of rows that match `inTranscript`, because all of them have a `seq`. */
const withSeq = (rows: (typeof messages.$inferSelect)[]): PlacedMessageRow[] =>
  rows.flatMap((row) => (row.seq === null ? [] : [{ ...row, seq: row.seq }]));

/** Lists at most `limit` messages with `seq > after`, in the order of `seq`. */
export async function listMessages(
  db: Database,
  sessionId: string,
  query: { after: number; limit: number },
): Promise<PlacedMessageRow[]> {
  const rows = await db
    .select()
    .from(messages)
    .where(and(inTranscript(sessionId), gt(messages.seq, query.after)))
    .orderBy(asc(messages.seq))
    .limit(query.limit);
  return withSeq(rows);
}

/** Finds a message of the session's transcript. */
export async function findMessage(
  db: Database,
  sessionId: string,
  messageId: string,
): Promise<PlacedMessageRow | undefined> {
  const rows = await db
    .select()
    .from(messages)
    .where(and(inTranscript(sessionId), eq(messages.id, messageId)));
  return withSeq(rows)[0];
}

/** Finds messages with a text part that contains `text`, case-insensitively, newest first. */
export async function searchMessages(
  db: Database,
  sessionId: string,
  text: string,
  limit: number,
): Promise<PlacedMessageRow[]> {
  const contains = sql`exists (
    select 1 from json_array_elements(${messages.parts}) as part
    where part->>'type' = 'text' and position(lower(${text}::text) in lower(part->>'text')) > 0
  )`;
  const rows = await db
    .select()
    .from(messages)
    .where(and(inTranscript(sessionId), contains))
    .orderBy(desc(messages.seq))
    .limit(limit);
  return withSeq(rows);
}

/**
 * Reads a part of a stored tool result. The database cuts the text, so that a huge result is never loaded as a whole.
 */
export async function findResultPage(
  db: Database,
  sessionId: string,
  resultId: string,
  range: { offset: number; limit: number },
): Promise<ToolResultPage | undefined> {
  const whole = sql`coalesce(${toolCalls.resultText}, '')`;
  const [row] = await db
    .select({
      resultId: toolCalls.resultId,
      toolName: toolCalls.name,
      state: toolCalls.state,
      text: sql<string>`substr(${whole}, ${range.offset + 1}::int, ${range.limit}::int)`,
      totalCharacters: sql`char_length(${whole})`.mapWith(Number),
    })
    .from(toolCalls)
    .where(and(eq(toolCalls.sessionId, sessionId), eq(toolCalls.resultId, resultId)));
  return row && { ...row, offset: range.offset };
}

/** A part of a stored tool result, as the tool `read_tool_result` reads it. */
export type ToolResultPage = {
  resultId: string;
  toolName: string;
  state: string;
  text: string;
  offset: number;
  totalCharacters: number;
};

export type MessageRow = typeof messages.$inferSelect;
export type NewMessageRow = typeof messages.$inferInsert;

/**
 * Lists the user messages of queued requests in the order in which the agent will read them: first the messages of
 * requests that joined the current turn (`run` is null), then those of all other requests in playing order.
 */
export async function listQueuedRequests(
  db: Executor,
  sessionId: string,
): Promise<{ request: RequestRow; message: MessageRow; run: { id: string } | null }[]> {
  return db
    .select({ request: requests, message: messages, run: { id: runs.id } })
    .from(messages)
    .innerJoin(requests, eq(requests.id, messages.requestId))
    .leftJoin(runs, and(eq(runs.requestId, requests.id), eq(runs.attempt, 1)))
    .where(
      and(
        eq(messages.sessionId, sessionId),
        isNull(messages.seq),
        isNull(messages.runId),
        eq(messages.role, "user"),
        or(eq(runs.state, "pending"), isNull(runs.id)),
      ),
    )
    .orderBy(sql`(${runs.id} is null) desc`, ...PLAYING_ORDER, asc(messages.index));
}

/**
 * Replaces the text of a request's last queued user message. Its attached files stay. The statement locks the request's run, so that no executor
 * claims the run during the edit. The agent therefore reads every accepted edit.
 *
 * @returns whether the text was replaced; false if the session has no queued message of this request, or if an executor
 * has claimed the request's run.
 */
export async function replaceQueuedText(
  db: Executor,
  sessionId: string,
  requestId: string,
  text: string,
): Promise<boolean> {
  const part = JSON.stringify({ type: "text", text });
  const rows = await queryRows<{ id: string }>(
    db,
    sql`
    with unclaimed as (
      select id from ${runs}
      where request_id = ${requestId} and attempt = 1 and state = 'pending' and epoch = 0 for no key update
    )
    update ${messages} set parts = (jsonb_build_array(${part}::jsonb) || coalesce((
      select jsonb_agg(part) from jsonb_array_elements(parts::jsonb) as part where part ->> 'type' in ('attachment', 'annotation')
    ), '[]'))::json
    where seq is null and session_id = ${sessionId} and id = (
      select id from ${messages} where request_id = ${requestId} and role = 'user' and seq is null
      order by index desc limit 1
    ) and (exists (select 1 from unclaimed) or not exists (select 1 from ${runs} where request_id = ${requestId}))
    returning id
  `,
  );
  return rows.length === 1;
}

/** Lists the latest messages of the transcript, oldest first. */
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

/** Finds the last message that the agent wrote in a run. */
export async function findLastAnswer(db: Executor, runId: string): Promise<MessageRow | undefined> {
  const [row] = await db
    .select()
    .from(messages)
    .where(and(eq(messages.runId, runId), eq(messages.role, "assistant"), isNotNull(messages.seq)))
    .orderBy(desc(messages.seq))
    .limit(1);
  return row;
}

/** Converts a row to a {@link TranscriptMessage}, the form of a message in events and lists. */
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
