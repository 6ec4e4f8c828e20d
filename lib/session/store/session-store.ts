import { and, eq, getTableColumns, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { messages, requests, runs, sealedSecrets, sessions } from "#db/schema/index.ts";
import type { RunOrigin, StartupStatus } from "#db/schema/unions.ts";
import { defineStatement, queryRows } from "#db/statement.ts";
import { describeJob, type JobValue, storedJob } from "./job-store.ts";
import type { Job, PlannedJob } from "./jobs.ts";
import type { NewMessageRow } from "./transcript-store.ts";

/** A session without its metadata, which may be megabytes, and without the text for the search. Both are rarely read. */
export type SessionRow = Omit<typeof sessions.$inferSelect, "metadata" | "task">;

const { metadata: _metadata, task: _task, ...columns } = getTableColumns(sessions);

/** The columns of {@link SessionRow}. */
export const sessionColumns: Omit<typeof sessions._.columns, "metadata" | "task"> = columns;

/** Finds a session. With `ownerId`, sessions of other owners are not found. */
export async function findSession(
  db: Executor,
  sessionId: string,
  ownerId?: string,
): Promise<SessionRow | undefined> {
  const [row] = await db
    .select(sessionColumns)
    .from(sessions)
    .where(
      and(eq(sessions.id, sessionId), ownerId === undefined ? undefined : eq(sessions.ownerId, ownerId)),
    );
  return row;
}

/** Finds the session that this owner created with this idempotency key. */
export async function findSessionByIdempotencyKey(
  db: Executor,
  ownerId: string,
  key: string,
): Promise<SessionRow | undefined> {
  const [row] = await db
    .select(sessionColumns)
    .from(sessions)
    .where(and(eq(sessions.ownerId, ownerId), eq(sessions.idempotencyKey, key)));
  return row;
}

/** Locks a session's row until the transaction ends, and reads it. */
export async function lockSession(tx: Transaction, sessionId: string): Promise<SessionRow | undefined> {
  const [row] = await tx
    .select(sessionColumns)
    .from(sessions)
    .where(eq(sessions.id, sessionId))
    .for("update");
  return row;
}

/** Stores a new title of a session. @returns the row; undefined if the session is deleted. */
export async function setTitle(
  db: Executor,
  sessionId: string,
  title: string,
): Promise<SessionRow | undefined> {
  const [row] = await db
    .update(sessions)
    .set({ title })
    .where(eq(sessions.id, sessionId))
    .returning(sessionColumns);
  return row;
}

/** Stores the startup status of a session's workspace. */
export async function setStartupStatus(
  db: Executor,
  sessionId: string,
  startupStatus: StartupStatus,
): Promise<void> {
  await db.update(sessions).set({ startupStatus }).where(eq(sessions.id, sessionId));
}

/** Reads this status; undefined if the session is deleted. */
export async function readStartupStatus(db: Executor, sessionId: string): Promise<StartupStatus | undefined> {
  const [row] = await db
    .select({ startupStatus: sessions.startupStatus })
    .from(sessions)
    .where(eq(sessions.id, sessionId));
  return row?.startupStatus;
}

/** Reads the metadata that a caller sent to create the session; null if there is none or the session is deleted. */
export async function readMetadata(db: Database, sessionId: string): Promise<Record<string, unknown> | null> {
  const [row] = await db
    .select({ metadata: sessions.metadata })
    .from(sessions)
    .where(eq(sessions.id, sessionId));
  return row?.metadata ?? null;
}

const FIELDS = [
  "id",
  "ownerId",
  "parentSessionId",
  "title",
  "task",
  "userId",
  "source",
  "metadata",
  "idempotencyKey",
  "bodyHash",
  "targetUrl",
  "targetPageUrls",
  "outputSchema",
  "tools",
  "toolset",
  "systemPrompt",
  "skills",
  "mcpServers",
  "mcpRevisions",
  "capabilities",
  "subAgents",
  "maxLiveChildren",
  "maxLiveBrowsers",
  "callbackUrl",
  "callbackEvents",
  "messageSeq",
  "budget",
  "interaction",
] satisfies (keyof typeof sessions.$inferInsert)[];

const allColumns = getTableColumns(sessions);

/** The rows of a new session: session, first request and run, messages, secrets, and the run's job. */
type NewSessionRows = {
  session: Pick<Required<typeof sessions.$inferInsert>, (typeof FIELDS)[number]>;
  request: { id: string; runId: string; origin: RunOrigin };
  messages: NewMessageRow[];
  secrets: { name: string; sealed: string }[];
  job: Job;
  /** The planned engine run of the job; undefined if the job must be sent to the engine. */
  planned?: PlannedJob | undefined;
};

const insertSession = defineStatement<
  (typeof FIELDS)[number] | "requestId" | "runId" | "origin" | "messages" | "secrets" | JobValue
>(
  (value) => sql`
    with created as (
      insert into ${sessions} (${sql.join(
        FIELDS.map((field) => sql.identifier(allColumns[field].name)),
        sql`, `,
      )})
      values (${sql.join(FIELDS.map(value), sql`, `)})
      on conflict (owner_id, idempotency_key) do nothing returning id, user_id, body_hash, created_at
    ), new_request as (
      insert into ${requests} (id, session_id, position, mode, origin, user_id, body_hash)
      select ${value("requestId")}, id, 1, 'queue', ${value("origin")}, user_id, body_hash from created
    ), run as (
      insert into ${runs} (id, session_id, request_id, attempt, origin)
      select ${value("runId")}, id, ${value("requestId")}, 1, ${value("origin")} from created
    ), new_messages as (
      insert into ${messages} (id, session_id, seq, index, role, parts, request_id, author)
      select m.id, created.id, m.seq, m.index, m.role, m.parts, ${value("requestId")}, m.author
      from created, json_to_recordset(${value("messages")}::json)
        as m (id text, seq int, index int, role text, parts json, author text)
    ), sealed as (
      insert into ${sealedSecrets} (session_id, name, sealed)
      select created.id, s.name, s.sealed
      from created, json_to_recordset(${value("secrets")}::json) as s (name text, sealed text)
    ), ${storedJob(value, sql`created`)}
    select (extract(epoch from created_at) * 1000)::float8 as created_ms from created`,
);

/**
 * Inserts a new session in one statement, unless its owner used the idempotency key before.
 *
 * @returns the creation time of the session; undefined if nothing was inserted.
 */
export async function insertNewSession(
  db: Executor,
  { session, request, messages: newMessages, secrets, job, planned }: NewSessionRows,
): Promise<Date | undefined> {
  const fields = Object.fromEntries(
    FIELDS.map((field) => {
      const value = session[field];
      return [field, value === null ? null : allColumns[field].mapToDriverValue(value)];
    }),
  );
  const [row] = await queryRows<{ created_ms: number }>(
    db,
    insertSession({
      // The cast is safe: `fields` has one value for each of FIELDS.
      ...(fields as Record<(typeof FIELDS)[number], unknown>),
      requestId: request.id,
      runId: request.runId,
      origin: request.origin,
      messages: JSON.stringify(newMessages),
      secrets: JSON.stringify(secrets),
      ...describeJob(job, planned),
    }),
  );
  return row && new Date(Math.floor(row.created_ms));
}

/** Adds the revisions of MCP in which tool servers of a session have answered, by the ids of the servers. */
export async function storeMcpRevisions(
  db: Executor,
  sessionId: string,
  revisions: Record<string, string>,
): Promise<void> {
  await db
    .update(sessions)
    .set({ mcpRevisions: sql`${sessions.mcpRevisions} || ${JSON.stringify(revisions)}::jsonb` })
    .where(eq(sessions.id, sessionId));
}
