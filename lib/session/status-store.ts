import { and, desc, eq, sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { requests, runs, sessions } from "#db/schema/index.ts";
import type { RunRow } from "./run-store.ts";

/** What a request's status hangs on: the run that answers for it. */
export type FoundStatus =
  | { kind: "unknown_session" }
  | { kind: "unknown_request" }
  | { kind: "found"; run: Pick<RunRow, "id" | "state" | "attempt"> };

type Asked = { sessionId: string; requestId: string; ownerId: string };

const prepared = new WeakMap<Database, ReturnType<typeof prepare>>();

/**
 * Finds the run whose state is a request's, in one statement that also tells whether the session is this owner's: the
 * newest run of its own; for a steer without one, the newest of the request whose turn it joined.
 * Polls make up most of what a service is asked, so the statement is built and planned once.
 */
export async function findStatus(db: Database, asked: Asked): Promise<FoundStatus> {
  const statement = prepared.get(db) ?? prepare(db);
  prepared.set(db, statement);
  const [row] = await statement.execute(asked);
  if (!row) return { kind: "unknown_session" };
  const { id, state, attempt } = row;
  if (id === null || state === null || attempt === null) return { kind: "unknown_request" };
  return { kind: "found", run: { id, state, attempt } };
}

function prepare(db: Database) {
  const requestId = sql`${sql.placeholder("requestId")}::text`;
  const joinedRequest = sql`(
    select joined_run.request_id from ${requests} as steer join ${runs} as joined_run on joined_run.id = steer.joined_run_id
    where steer.id = ${requestId}
  )`;
  return db
    .select({ id: runs.id, state: runs.state, attempt: runs.attempt })
    .from(sessions)
    .leftJoin(
      runs,
      and(eq(runs.sessionId, sessions.id), sql`${runs.requestId} in (${requestId}, ${joinedRequest})`),
    )
    .where(
      and(eq(sessions.id, sql.placeholder("sessionId")), eq(sessions.ownerId, sql.placeholder("ownerId"))),
    )
    .orderBy(sql`(${runs.requestId} = ${requestId}) desc`, desc(runs.attempt))
    .limit(1)
    .prepare("find_status");
}
