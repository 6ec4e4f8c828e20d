import { and, eq, inArray, sql } from "drizzle-orm";
import type { Transaction } from "#db/client.ts";
import { messages, outbox, requests, runs, sessions } from "#db/schema/index.ts";
import type { FollowUpMode, RunOrigin } from "#db/schema/unions.ts";
import type { Job } from "./jobs.ts";
import type { NewMessageRow } from "./message-store.ts";
import { OPEN_STATES, playingOrder } from "./run-store.ts";

/** The last numbers given in a session. */
export type SessionCounters = { eventSeq: number; messageSeq: number };

/** The open run that is first in playing order. */
export type HeadRun = {
  id: string;
  isClaimed: boolean;
  /** Somebody asked it to stop. */
  isStopping: boolean;
  attempt: number;
  /** How its request came, and from whom. */
  mode: FollowUpMode;
  origin: RunOrigin;
};

/** A request that came with the same key before; `ownRunId` is null for a steer that has no run of its own. */
export type EarlierUse = {
  requestId: string;
  bodyHash: string;
  runId: string;
  isWaiting: boolean;
  ownRunId: string | null;
};

/** How a session stands when a follow-up arrives. */
export type Standing = { head: HeadRun | undefined; position: number; earlier: EarlierUse | undefined };

/** Locks a session's row until the transaction ends, so that its queue has one order. */
export async function lockCounters(tx: Transaction, sessionId: string): Promise<SessionCounters | undefined> {
  const [row] = await tx
    .select({ eventSeq: sessions.eventSeq, messageSeq: sessions.messageSeq })
    .from(sessions)
    .where(eq(sessions.id, sessionId))
    .for("update");
  return row;
}

/**
 * What decides about a follow-up: the turn at the head of the queue, the place in the order of requests, and an earlier
 * use of its idempotency key. Its own statement, so that it sees what was committed before the session's lock was ours.
 */
export async function readStanding(
  tx: Transaction,
  sessionId: string,
  key: string | null,
): Promise<Standing> {
  const head = tx
    .select({
      id: sql<string | null>`${runs.id}`.as("head_id"),
      isClaimed: sql<boolean>`(${runs.state} = 'running' or ${runs.epoch} > 0)`.as("is_claimed"),
      isStopping: sql<boolean>`(${runs.cancelRequestedAt} is not null)`.as("is_stopping"),
      attempt: runs.attempt,
      mode: requests.mode,
      origin: sql<RunOrigin>`${requests.origin}`.as("request_origin"),
    })
    .from(runs)
    .innerJoin(requests, eq(requests.id, runs.requestId))
    .where(and(eq(runs.sessionId, sessionId), inArray(runs.state, OPEN_STATES)))
    .orderBy(...playingOrder)
    .limit(1)
    .as("head");
  const earlier = tx
    .select({
      requestId: sql<string | null>`${requests.id}`.as("earlier_id"),
      bodyHash: requests.bodyHash,
      // What it was answered with: the run it joined, even where it got its own since.
      runId: sql<string>`coalesce(${requests.joinedRunId}, ${runs.id})`.as("answered_run_id"),
      isWaiting: sql<boolean>`exists (
        select 1 from ${messages} as waiting where waiting.request_id = ${requests.id} and waiting.seq is null
      ) and coalesce(${runs.state} = 'pending', true)`.as("is_waiting"),
      ownRunId: sql<string | null>`${runs.id}`.as("own_run_id"),
    })
    .from(requests)
    .leftJoin(runs, and(eq(runs.requestId, requests.id), eq(runs.attempt, 1)))
    .where(and(eq(requests.sessionId, sessionId), sql`${requests.idempotencyKey} = ${key}::text`))
    .as("earlier");
  const [row] = await tx
    .select({
      head: {
        id: head.id,
        isClaimed: head.isClaimed,
        isStopping: head.isStopping,
        attempt: head.attempt,
        mode: head.mode,
        origin: head.origin,
      },
      earlier: {
        requestId: earlier.requestId,
        bodyHash: earlier.bodyHash,
        runId: earlier.runId,
        isWaiting: earlier.isWaiting,
        ownRunId: earlier.ownRunId,
      },
      position: sql<number>`(select coalesce(max(position), 0)::int + 1 from ${requests} where session_id = ${sessionId})`,
    })
    .from(sql`(values (1)) as one`)
    .leftJoin(head, sql`true`)
    .leftJoin(earlier, sql`true`);
  return {
    // Left joins: all of their columns are there, or none.
    head: row?.head?.id ? (row.head as HeadRun) : undefined,
    earlier: row?.earlier?.requestId ? (row.earlier as EarlierUse) : undefined,
    position: row?.position ?? 1,
  };
}

/** Writes an accepted follow-up in one statement. @param news.placed how many of its messages have their places already. */
export async function insertFollowUp(
  tx: Transaction,
  news: {
    request: typeof requests.$inferInsert;
    run: typeof runs.$inferInsert | undefined;
    messages: NewMessageRow[];
    placed: number;
    job: Job | undefined;
  },
): Promise<void> {
  const { request, run, placed, job } = news;
  const writes = [
    tx.insert(requests).values(request),
    ...(run ? [tx.insert(runs).values(run)] : []),
    ...(job ? [tx.insert(outbox).values(job)] : []),
    ...(placed > 0
      ? [
          tx
            .update(sessions)
            .set({ messageSeq: sql`${sessions.messageSeq} + ${placed}::int` })
            .where(eq(sessions.id, request.sessionId)),
        ]
      : []),
    tx.insert(messages).values(news.messages),
  ];
  const named = writes.map((write, index) => sql`${sql.raw(`write_${index}`)} as ${write}`);
  await tx.execute(sql`with ${sql.join(named, sql`, `)} select 1`);
}
