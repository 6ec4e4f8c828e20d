import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client.ts";
import { messages, outbox, requests, runs, sessions, steps } from "#db/schema/index.ts";
import type { FollowUpMode, RunOrigin } from "#db/schema/unions.ts";
import { defineStatement, queryRows } from "#db/statement.ts";
import type { Job } from "../jobs/jobs.ts";
import { OPEN_STATES, PLAYING_ORDER } from "../run/run-store.ts";
import type { NewMessageRow } from "../transcript/transcript-store.ts";
import { hasWaitingMessages } from "./steering-store.ts";

/** The step that marks the beginning of a run's collection: from then on the turn reads no more messages. */
export const COLLECTION_STARTED = "collect-started";

/** The last numbers given in a session. */
export type SessionCounters = { eventSeq: number; messageSeq: number };

/** The open run that is first in playing order. */
export type HeadRun = {
  id: string;
  isClaimed: boolean;
  isParked: boolean;
  /** Somebody asked it to stop. */
  isStopping: boolean;
  /** The turn's work is done and its structured result is being collected. */
  isCollecting: boolean;
  attempt: number;
  /** Its messages have no places in the transcript yet. */
  isWaiting: boolean;
  /** How its request came, and from whom. */
  mode: FollowUpMode;
  origin: RunOrigin;
};

/** A request that came with the same key before; `ownRunId` is null for a steer that has no run of its own. */
export type EarlierUse = {
  requestId: string;
  bodyHash: string;
  /** The run it was answered with: the one it joined, even where it has got its own since. */
  runId: string;
  isWaiting: boolean;
  ownRunId: string | null;
};

/** How a session stands when a follow-up arrives. */
type Standing = {
  head: HeadRun | undefined;
  position: number;
  earlier: EarlierUse | undefined;
  /** Requests in the queue: those that `listQueue` lists. */
  waiting: number;
};

const lock = defineStatement<"sessionId">(
  (value) => sql`
    select event_seq::float8 as event_seq, message_seq from ${sessions}
    where id = ${value("sessionId")} for no key update`,
);

/** Locks a session's row until the transaction ends, so that its queue has one order. */
export async function lockCounters(tx: Transaction, sessionId: string): Promise<SessionCounters | undefined> {
  const [row] = await queryRows<{ event_seq: number; message_seq: number }>(tx, lock({ sessionId }));
  return row && { eventSeq: row.event_seq, messageSeq: row.message_seq };
}

const open = sql.raw(OPEN_STATES.map((state) => `'${state}'`).join(", "));

const isCollecting = sql`exists (
  select 1 from ${steps} as begun where begun.run_id = ${runs.id} and begun.name = ${sql.raw(`'${COLLECTION_STARTED}'`)})`;

const standing = defineStatement<"sessionId" | "key">(
  (value) => sql`
    select case when first.id is not null then row_to_json(first) end as head, earlier, (
      select coalesce(max(position), 0) + 1 from ${requests} where session_id = ${value("sessionId")}
    ) as position, (
      select count(distinct queued.request_id)::int
      from ${messages} as queued left join ${runs} as own on own.request_id = queued.request_id and own.attempt = 1
      where queued.session_id = ${value("sessionId")} and queued.seq is null and queued.run_id is null
        and (own.id is null or own.state = 'pending')
    ) as waiting
    from (values (1)) as one
    left join (
      select ${runs.id}, (${runs.state} = 'running' or ${runs.epoch} > 0) as "isClaimed",
        ${runs.parkedAt} is not null as "isParked", ${runs.cancelRequestedAt} is not null as "isStopping", ${isCollecting} as "isCollecting",
        ${runs.attempt}, ${hasWaitingMessages(sql`${requests}`)} as "isWaiting",
        ${requests.mode}, ${requests.origin}
      from ${runs} join ${requests} on ${requests.id} = ${runs.requestId}
      where ${runs.sessionId} = ${value("sessionId")} and ${runs.state} in (${open})
      order by ${sql.join(PLAYING_ORDER, sql`, `)} limit 1
    ) as first on true
    left join (
      select json_build_object(
        'requestId', ${requests.id}, 'bodyHash', ${requests.bodyHash},
        'runId', coalesce(${requests.joinedRunId}, ${runs.id}), 'ownRunId', ${runs.id},
        'isWaiting', coalesce(${runs.state} = 'pending', true) and exists (
          select 1 from ${messages} as waiting where waiting.request_id = ${requests.id} and waiting.seq is null
        )
      ) as earlier
      from ${requests} left join ${runs} on ${runs.requestId} = ${requests.id} and ${runs.attempt} = 1
      where ${requests.sessionId} = ${value("sessionId")} and ${requests.idempotencyKey} = ${value("key")}
    ) as used on true`,
);

/**
 * What decides about a follow-up: the turn at the head of the queue, the place in the order of requests, and an earlier
 * use of its idempotency key. Its own statement, so that it sees what was committed before the session's lock was ours.
 */
export async function readStanding(
  tx: Transaction,
  sessionId: string,
  key: string | null,
): Promise<Standing> {
  type Row = Pick<Standing, "position" | "waiting"> & { head: HeadRun | null; earlier: EarlierUse | null };
  const [row] = await queryRows<Row>(tx, standing({ sessionId, key }));
  const { head, earlier, position = 1, waiting = 0 } = row ?? {};
  return { head: head ?? undefined, earlier: earlier ?? undefined, position, waiting };
}

/**
 * Whether an open run was claimed although another had been put before it, which nobody has begun since. A claim that is
 * being made just now is waited for.
 */
export async function isClaimedBefore(db: Database, runId: string, nextRunId: string): Promise<boolean> {
  const isNextUnbegun = sql`exists (select 1 from ${runs} as next where next.id = ${nextRunId} and next.epoch = 0)`;
  const [run] = await db
    .select({ isClaimed: sql<boolean>`${runs.state} = 'running' or ${runs.epoch} > 0` })
    .from(runs)
    .where(and(eq(runs.id, runId), inArray(runs.state, OPEN_STATES), isNextUnbegun))
    .for("share");
  return run?.isClaimed ?? false;
}

/** Stores the request to stop an open run, in the current transaction. */
export async function noteStop(tx: Transaction, runId: string): Promise<void> {
  await tx
    .update(runs)
    .set({ cancelRequestedAt: sql`coalesce(${runs.cancelRequestedAt}, now())` })
    .where(and(eq(runs.id, runId), inArray(runs.state, OPEN_STATES)));
}

/** An accepted follow-up as it is written. */
type NewFollowUpRows = {
  request: {
    id: string;
    sessionId: string;
    position: number;
    mode: FollowUpMode;
    origin: RunOrigin;
    userId: string | null;
    idempotencyKey: string | null;
    bodyHash: string;
  };
  /** The run whose turn it joins, and the number of the session's last event then; or its own run. */
  run: { joinedId: string; afterSeq: number } | { ownId: string };
  messages: NewMessageRow[];
  /** How many of the messages have their places already. */
  placed: number;
  job: Job | undefined;
};

const insert = defineStatement<
  | keyof NewFollowUpRows["request"]
  | ("joinedId" | "afterSeq" | "ownId" | "messages" | "placed" | "jobId" | "jobName" | "jobData")
>(
  (value) => sql`
    with asked as (
      insert into ${requests} (id, session_id, position, mode, origin, user_id, idempotency_key, body_hash,
        joined_run_id, joined_after_seq)
      values (${value("id")}, ${value("sessionId")}, ${value("position")}, ${value("mode")}, ${value("origin")},
        ${value("userId")}, ${value("idempotencyKey")}, ${value("bodyHash")}, ${value("joinedId")},
        ${value("afterSeq")})
      returning id, session_id, origin
    ), played as (
      insert into ${runs} (id, session_id, request_id, attempt, origin)
      select ${value("ownId")}, session_id, id, 1, origin from asked where ${value("ownId")}::text is not null
    ), said as (
      insert into ${messages} (id, session_id, seq, index, role, parts, request_id, author)
      select m.id, asked.session_id, m.seq, m.index, m.role, m.parts, asked.id, m.author
      from asked, json_to_recordset(${value("messages")}::json)
        as m (id text, seq int, index int, role text, parts json, author text)
    ), counted as (
      update ${sessions} s set message_seq = s.message_seq + ${value("placed")}::int, queue_seq = s.queue_seq + 1
      from asked where s.id = asked.session_id
    ), sent as (
      insert into ${outbox} (id, name, data)
      select ${value("jobId")}, ${value("jobName")}, ${value("jobData")}::jsonb
      where ${value("jobId")}::text is not null
    )
    select id from asked`,
);

/** Writes an accepted follow-up in one statement. */
export async function insertFollowUp(tx: Transaction, news: NewFollowUpRows): Promise<void> {
  const { request, run, placed, job } = news;
  const values = {
    ...request,
    joinedId: "joinedId" in run ? run.joinedId : null,
    afterSeq: "joinedId" in run ? run.afterSeq : null,
    ownId: "ownId" in run ? run.ownId : null,
    messages: JSON.stringify(news.messages),
    placed,
    jobId: job?.id ?? null,
    jobName: job?.name ?? null,
    jobData: job ? JSON.stringify(job.data) : null,
  };
  await queryRows(tx, insert(values));
}
