import { and, asc, desc, eq, gt, isNotNull, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { messages, toolCalls } from "#db/schema/index.ts";
import type { ToolResultPage } from "./transcript.ts";

/** A message that has its place in the transcript. */
type PlacedMessageRow = Omit<typeof messages.$inferSelect, "seq"> & { seq: number };

const inTranscript = (sessionId: string) => and(eq(messages.sessionId, sessionId), isNotNull(messages.seq));

/** Only rows of `inTranscript` come here; the column is nullable for those that wait in the queue. */
const placed = (rows: (typeof messages.$inferSelect)[]): PlacedMessageRow[] =>
  rows.flatMap((row) => (row.seq === null ? [] : [{ ...row, seq: row.seq }]));

/** Messages in order with `seq > after`, at most `limit`. */
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
  return placed(rows);
}

/** One message of the session's transcript. */
export async function findMessage(
  db: Database,
  sessionId: string,
  messageId: string,
): Promise<PlacedMessageRow | undefined> {
  const rows = await db
    .select()
    .from(messages)
    .where(and(inTranscript(sessionId), eq(messages.id, messageId)));
  return placed(rows)[0];
}

/** Messages one of whose text parts holds `text`, case-insensitively, newest first. */
export async function searchMessages(
  db: Database,
  sessionId: string,
  text: string,
  limit: number,
): Promise<PlacedMessageRow[]> {
  const holds = sql`exists (
    select 1 from json_array_elements(${messages.parts}) as part
    where part->>'type' = 'text' and position(lower(${text}::text) in lower(part->>'text')) > 0
  )`;
  const rows = await db
    .select()
    .from(messages)
    .where(and(inTranscript(sessionId), holds))
    .orderBy(desc(messages.seq))
    .limit(limit);
  return placed(rows);
}

/** A piece of a kept result; the database cuts it, so that a huge result is never read whole. */
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
