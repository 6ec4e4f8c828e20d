import { getTableColumns, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { messages, outbox, requests, runs, sealedSecrets, sessions } from "#db/schema/index.ts";
import type { RunOrigin } from "#db/schema/unions.ts";
import { defineStatement } from "#db/statement.ts";
import type { Job } from "./jobs.ts";
import type { NewMessageRow } from "./message-store.ts";

const FIELDS = [
  ...(["id", "ownerId", "title", "userId", "source", "metadata", "idempotencyKey", "bodyHash"] as const),
  ...(["targetUrl", "targetPageUrls", "outputSchema", "tools", "toolset", "systemPrompt"] as const),
  ...(["mcpServers", "capabilities", "subAgents", "maxLiveChildren", "maxLiveBrowsers"] as const),
  ...(["callbackUrl", "callbackEvents", "messageSeq"] as const),
] satisfies (keyof typeof sessions.$inferInsert)[];

const columns = getTableColumns(sessions);

/** What a session begins with: its row, its first request and run with their messages, its secrets, and the job to play it. */
export type NewSessionRows = {
  session: Pick<Required<typeof sessions.$inferInsert>, (typeof FIELDS)[number]>;
  request: { id: string; runId: string; origin: RunOrigin };
  messages: NewMessageRow[];
  secrets: { name: string; sealed: string }[];
  job: Job;
};

const statement = defineStatement<
  | (typeof FIELDS)[number]
  | "requestId"
  | "runId"
  | "origin"
  | "messages"
  | "secrets"
  | "jobId"
  | "jobName"
  | "jobData"
>(
  (value) => sql`
    with created as (
      insert into ${sessions} (${sql.join(
        FIELDS.map((field) => sql.identifier(columns[field].name)),
        sql`, `,
      )})
      values (${sql.join(FIELDS.map(value), sql`, `)})
      on conflict (owner_id, idempotency_key) do nothing returning id, user_id, body_hash
    ), asked as (
      insert into ${requests} (id, session_id, position, mode, origin, user_id, body_hash)
      select ${value("requestId")}, id, 1, 'queue', ${value("origin")}, user_id, body_hash from created
    ), run as (
      insert into ${runs} (id, session_id, request_id, attempt, origin)
      select ${value("runId")}, id, ${value("requestId")}, 1, ${value("origin")} from created
    ), said as (
      insert into ${messages} (id, session_id, seq, index, role, parts, request_id, author)
      select m.id, created.id, m.seq, m.index, m.role, m.parts, ${value("requestId")}, m.author
      from created, json_to_recordset(${value("messages")}::json)
        as m (id text, seq int, index int, role text, parts json, author text)
    ), sealed as (
      insert into ${sealedSecrets} (session_id, name, sealed)
      select created.id, s.name, s.sealed
      from created, json_to_recordset(${value("secrets")}::json) as s (name text, sealed text)
    ), sent as (
      insert into ${outbox} (id, name, data)
      select ${value("jobId")}, ${value("jobName")}, ${value("jobData")}::jsonb from created
    )
    select id from created`,
);

/**
 * Writes a new session in one statement, unless its owner used the idempotency key before.
 *
 * @returns whether it was written.
 */
export async function insertNewSession(
  db: Database,
  { session, request, messages: said, secrets, job }: NewSessionRows,
): Promise<boolean> {
  const fields = Object.fromEntries(
    FIELDS.map((field) => {
      const given = session[field];
      return [field, given === null ? null : columns[field].mapToDriverValue(given)];
    }),
  );
  // Every driver answers with rows; which one it is, Drizzle's type leaves open.
  const { rows } = (await db.execute(
    statement({
      // One value for each of FIELDS.
      ...(fields as Record<(typeof FIELDS)[number], unknown>),
      requestId: request.id,
      runId: request.runId,
      origin: request.origin,
      messages: JSON.stringify(said),
      secrets: JSON.stringify(secrets),
      jobId: job.id,
      jobName: job.name,
      jobData: JSON.stringify(job.data),
    }),
  )) as unknown as { rows: { id: string }[] };
  return rows.length === 1;
}
