import { and, desc, eq, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database } from "#db/client.ts";
import { requests, runs, sessions } from "#db/schema/index.ts";
import type { RunRow } from "./run-store.ts";

/** The run whose state is a request's. */
export type AnsweringRun = Pick<RunRow, "id" | "requestId" | "state" | "attempt">;

/** A request's status hangs on the run that answers for it; its stream also on the turn that a steer joined. */
type FoundStatus =
  | { kind: "unknown_session" }
  | { kind: "unknown_request" }
  | {
      kind: "found";
      run: AnsweringRun;
      /** Whose turn a steer joined, and the number of the event after which it did. */
      joined: { requestId: string; afterSeq: number } | undefined;
    };

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
  const { id, requestId, state, attempt, joinedId, afterSeq } = row;
  if (id === null || requestId === null || state === null || attempt === null)
    return { kind: "unknown_request" };
  const joined = joinedId !== null && afterSeq !== null ? { requestId: joinedId, afterSeq } : undefined;
  return { kind: "found", run: { id, requestId, state, attempt }, joined };
}

function prepare(db: Database) {
  const { placeholder } = sql;
  const joined = alias(runs, "joined_run");
  return db
    .select({
      id: runs.id,
      requestId: runs.requestId,
      state: runs.state,
      attempt: runs.attempt,
      joinedId: joined.requestId,
      afterSeq: requests.joinedAfterSeq,
    })
    .from(sessions)
    .leftJoin(requests, and(eq(requests.sessionId, sessions.id), eq(requests.id, placeholder("requestId"))))
    .leftJoin(joined, eq(joined.id, requests.joinedRunId))
    .leftJoin(runs, sql`${runs.requestId} in (${requests.id}, ${joined.requestId})`)
    .where(and(eq(sessions.id, placeholder("sessionId")), eq(sessions.ownerId, placeholder("ownerId"))))
    .orderBy(sql`(${runs.requestId} = ${requests.id}) desc`, desc(runs.attempt))
    .limit(1)
    .prepare("find_status");
}
