import { and, asc, desc, eq, getTableColumns, inArray, or, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Executor, Transaction } from "#db/client.ts";
import { type ElicitationAnswer, elicitations, runs, sessions } from "#db/schema/index.ts";
import type { ElicitationState, InboxSettler, Source } from "#db/schema/unions.ts";
import { oneLine } from "#lib/text/one-line.ts";
import { shorten } from "#lib/text/shorten.ts";
import { closeItems, ITEM_STATE_OF, openItem } from "./inbox-store.ts";
import { isOpen, OPEN_STATES, type RunRow } from "./run-store.ts";

export type ElicitationRow = typeof elicitations.$inferSelect;

/** Finds the question of a tool call, in any state. */
export async function findElicitationOfCall(
  db: Executor,
  runId: string,
  callId: string,
): Promise<ElicitationRow | undefined> {
  const [row] = await db
    .select()
    .from(elicitations)
    .where(and(eq(elicitations.runId, runId), eq(elicitations.callId, callId)));
  return row;
}

/** The questions of a tool call: the first has the id of the call, others have it with `/<number>`. */
const isOfCall = (callId: string) =>
  or(eq(elicitations.callId, callId), sql`starts_with(${elicitations.callId}, ${`${callId}/`})`);

/** Returns the id of the tool call that asked a question. */
export const askingCallOf = ({ callId }: Pick<ElicitationRow, "callId">): string =>
  callId.split("/")[0] ?? callId;

/** Lists the open questions of a run. With `callId`, lists only the questions of this tool call. */
export async function listOpenOfRun(
  db: Executor,
  runId: string,
  callId: string | undefined,
): Promise<ElicitationRow[]> {
  const rows = await db
    .select()
    .from(elicitations)
    .where(and(eq(elicitations.runId, runId), eq(elicitations.state, "open")));
  return rows.filter(
    (row) => callId === undefined || row.callId === callId || row.callId.startsWith(`${callId}/`),
  );
}

/** Finds a question by its id; undefined if the session has no such question. */
export async function findElicitation(
  db: Executor,
  sessionId: string,
  id: string,
): Promise<ElicitationRow | undefined> {
  const [row] = await db
    .select()
    .from(elicitations)
    .where(and(eq(elicitations.id, id), eq(elicitations.sessionId, sessionId)));
  return row;
}

/** Lists the open questions of a session's open runs, oldest first. */
export function listOpenElicitations(db: Executor, sessionId: string): Promise<ElicitationRow[]> {
  return db
    .select(getTableColumns(elicitations))
    .from(elicitations)
    .innerJoin(runs, eq(runs.id, elicitations.runId))
    .where(
      and(
        eq(elicitations.sessionId, sessionId),
        eq(elicitations.state, "open"),
        inArray(runs.state, OPEN_STATES),
      ),
    )
    .orderBy(asc(elicitations.createdAt), asc(elicitations.id));
}

/**
 * Lists at most `limit` questions of a session, newest first.
 *
 * @param options.cursor id of a question; only older questions are listed. An unknown id gives an empty list.
 */
export function listElicitations(
  db: Executor,
  sessionId: string,
  { cursor, limit }: { cursor: string | undefined; limit: number },
): Promise<ElicitationRow[]> {
  const start = alias(elicitations, "start");
  const before = db
    .select({ createdAt: start.createdAt, id: start.id })
    .from(start)
    .where(and(eq(start.sessionId, sessionId), eq(start.id, cursor ?? "")));
  return db
    .select()
    .from(elicitations)
    .where(
      and(
        eq(elicitations.sessionId, sessionId),
        cursor === undefined ? undefined : sql`(${elicitations.createdAt}, ${elicitations.id}) < ${before}`,
      ),
    )
    .orderBy(desc(elicitations.createdAt), desc(elicitations.id))
    .limit(limit);
}

/** Whether a run still reads answers: it is open and no stop was requested. */
export const acceptsAnswers = (run: RunRow): boolean => isOpen(run) && run.cancelRequestedAt === null;

const TITLE_MAX = 120;

/** Inserts an open question, and its item of the inbox. The caller has locked the session. */
export async function insertElicitation(
  tx: Transaction,
  row: typeof elicitations.$inferInsert,
): Promise<void> {
  await tx.insert(elicitations).values(row);
  const { id, sessionId, runId, question, options, form, expiresAt } = row;
  const title = shorten(oneLine(question), TITLE_MAX);
  const item = { title, body: question, options: options ?? null, form: form ?? null, expiresAt };
  await openItem(tx, { sessionId, runId, kind: "question", subjectId: id, ...item });
}

/** How a question ended: its final state and the answer. The answer is null if the question was not answered. */
export type ElicitationOutcome = {
  state: Exclude<ElicitationState, "open">;
  answer: ElicitationAnswer | null;
};

/**
 * Ends an open question and its item with this outcome.
 *
 * @param settledBy who answered or declined the question; null if the service closes it.
 * @returns the row of the question; undefined if the question was not open.
 */
export async function closeElicitation(
  tx: Transaction,
  id: string,
  end: ElicitationOutcome,
  settledBy: InboxSettler | null,
): Promise<ElicitationRow | undefined> {
  const [row] = await tx
    .update(elicitations)
    .set({ ...end, resolvedAt: new Date() })
    .where(and(eq(elicitations.id, id), eq(elicitations.state, "open")))
    .returning();
  if (row) await closeItems(tx, [id], { state: ITEM_STATE_OF[end.state], settledBy });
  return row;
}

/**
 * Ends the open questions of a run, and their items, without an answer. With `callId`, ends only the questions of this tool call.
 *
 * @returns the ids of the ended questions.
 */
export async function closeQuestionsOf(
  tx: Transaction,
  runId: string,
  state: "unanswered" | "withdrawn",
  callId: string | null,
): Promise<string[]> {
  const rows = await tx
    .update(elicitations)
    .set({ state, resolvedAt: new Date() })
    .where(
      and(
        eq(elicitations.runId, runId),
        eq(elicitations.state, "open"),
        callId === null ? undefined : isOfCall(callId),
      ),
    )
    .returning({ id: elicitations.id });
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) await closeItems(tx, ids, { state: ITEM_STATE_OF[state], settledBy: null });
  return ids;
}

/**
 * Reads the fields that events about a run contain: the ids of the request and the run, and the source of the session.
 */
export async function readEventContext(
  db: Executor,
  runId: string,
): Promise<{ requestId: string; runId: string; source: Source }> {
  const [row] = await db
    .select({ requestId: runs.requestId, runId: runs.id, source: sessions.source })
    .from(runs)
    .innerJoin(sessions, eq(sessions.id, runs.sessionId))
    .where(eq(runs.id, runId));
  if (!row) throw new Error(`run ${runId} does not exist`);
  return row;
}
