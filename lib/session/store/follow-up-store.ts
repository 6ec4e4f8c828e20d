import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client.ts";
import {
  elicitations,
  inboxItems,
  messages,
  outbox,
  requests,
  runs,
  sessions,
  steps,
} from "#db/schema/index.ts";
import type { FollowUpMode, RunOrigin } from "#db/schema/unions.ts";
import { defineStatement, queryRows } from "#db/statement.ts";
import type { Job } from "./jobs.ts";
import { OPEN_STATES, PLAYING_ORDER } from "./run-store.ts";
import { hasWaitingMessages } from "./steering-store.ts";
import type { NewMessageRow } from "./transcript-store.ts";

/**
 * Name of the step that a run records when it starts to collect its result. The turn reads no messages after this step.
 */
export const COLLECTION_STARTED = "collect-started";

/** The last assigned event and message numbers of a session. */
export type SessionCounters = { eventSeq: number; messageSeq: number };

/** The first open run of a session in playing order. */
export type HeadRun = {
  id: string;
  isClaimed: boolean;
  isParked: boolean;
  /** Whether a stop was requested. */
  isStopping: boolean;
  /** Whether the turn's work is done and its structured result is being collected. */
  isCollecting: boolean;
  attempt: number;
  /** Whether messages of the run's request are not in the transcript yet. */
  isWaiting: boolean;
  /** Mode and origin of the run's request. */
  mode: FollowUpMode;
  origin: RunOrigin;
  /** Whether no person started the run itself. A retry of a person's turn counts as such a run. */
  isExternal: boolean;
  /** Whether the session's `tools.externalTurnExclude` names tools. */
  excludesTools: boolean;
  /** Whether the run waits for a person's answer. */
  asksPerson: boolean;
};

/** An earlier request with the same idempotency key. */
export type EarlierUse = {
  requestId: string;
  bodyHash: string;
  /** The run that the first response named. For a `steer` message: the run that it joined when it was accepted. */
  runId: string;
  isWaiting: boolean;
  /** Null while a `steer` message has no run of its own. */
  ownRunId: string | null;
};

/** The state of a session's queue when a follow-up arrives. */
type QueueState = {
  head: HeadRun | undefined;
  position: number;
  earlier: EarlierUse | undefined;
  /** Number of queued requests, as `listQueue` lists them, and the bytes of their messages as JSON. */
  waiting: { count: number; bytes: number };
};

const lock = defineStatement<"sessionId">(
  (value) => sql`
    select event_seq::float8 as event_seq, message_seq from ${sessions}
    where id = ${value("sessionId")} for no key update`,
);

/** Locks a session's row until the transaction ends, so that concurrent follow-ups are stored one after the other. */
export async function lockCounters(tx: Transaction, sessionId: string): Promise<SessionCounters | undefined> {
  const [row] = await queryRows<{ event_seq: number; message_seq: number }>(tx, lock({ sessionId }));
  return row && { eventSeq: row.event_seq, messageSeq: row.message_seq };
}

const open = sql.raw(OPEN_STATES.map((state) => `'${state}'`).join(", "));

const isCollecting = sql`exists (
  select 1 from ${steps} as begun where begun.run_id = ${runs.id} and begun.name = ${sql.raw(`'${COLLECTION_STARTED}'`)})`;

const queueState = defineStatement<"sessionId" | "key">(
  (value) => sql`
    select case when first.id is not null then row_to_json(first) end as head, earlier, (
      select coalesce(max(position), 0) + 1 from ${requests} where session_id = ${value("sessionId")}
    ) as position, (
      select json_build_object('count', count(distinct queued.request_id),
        'bytes', coalesce(sum(octet_length(queued.parts::text)), 0))
      from ${messages} as queued left join ${runs} as own on own.request_id = queued.request_id and own.attempt = 1
      where queued.session_id = ${value("sessionId")} and queued.seq is null and queued.run_id is null
        and (own.id is null or own.state = 'pending')
    ) as waiting
    from (values (1)) as one
    left join (
      select ${runs.id}, (${runs.state} = 'running' or ${runs.epoch} > 0) as "isClaimed",
        ${runs.parkedAt} is not null as "isParked", ${runs.cancelRequestedAt} is not null as "isStopping", ${isCollecting} as "isCollecting",
        ${runs.attempt}, ${hasWaitingMessages(sql`${requests}`)} as "isWaiting",
        ${requests.mode}, ${requests.origin}, ${runs.origin} <> 'person' as "isExternal",
        jsonb_array_length(coalesce(${sessions.tools} -> 'externalTurnExclude', '[]')) > 0 as "excludesTools",
        (exists (select from ${elicitations} as question
          where question.run_id = ${runs.id} and question.state = 'open')
          or exists (select from ${inboxItems} as item
          where item.run_id = ${runs.id} and item.state = 'open' and item.kind = 'approval')) as "asksPerson"
      from ${runs} join ${requests} on ${requests.id} = ${runs.requestId}
        join ${sessions} on ${sessions.id} = ${runs.sessionId}
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
 * Reads what the placement of a follow-up depends on: the first open run, the position of the new request, an earlier
 * use of the idempotency key, and the number and size of queued requests. Call this after {@link lockCounters}, so that it sees
 * everything that was committed before the lock was granted.
 */
export async function readQueueState(
  tx: Transaction,
  sessionId: string,
  key: string | null,
): Promise<QueueState> {
  type Row = Pick<QueueState, "position" | "waiting"> & { head: HeadRun | null; earlier: EarlierUse | null };
  const [row] = await queryRows<Row>(tx, queueState({ sessionId, key }));
  const { head, earlier, position = 1, waiting = { count: 0, bytes: 0 } } = row ?? {};
  return { head: head ?? undefined, earlier: earlier ?? undefined, position, waiting };
}

/** Whether a follow-up of the session was stored with an idempotency key. */
export async function isKeyUsed(db: Database, sessionId: string, key: string | null): Promise<boolean> {
  if (key === null) return false;
  const rows = await db
    .select({ id: requests.id })
    .from(requests)
    .where(and(eq(requests.sessionId, sessionId), eq(requests.idempotencyKey, key)));
  return rows.length > 0;
}

/**
 * Whether an executor has claimed the open run `runId`, although the run `nextRunId` overtook it and has not begun.
 * Waits until a concurrent claim has committed.
 */
export async function isClaimedBefore(db: Database, runId: string, nextRunId: string): Promise<boolean> {
  const isNextNotBegun = sql`exists (select 1 from ${runs} as next where next.id = ${nextRunId} and next.epoch = 0)`;
  const [run] = await db
    .select({ isClaimed: sql<boolean>`${runs.state} = 'running' or ${runs.epoch} > 0` })
    .from(runs)
    .where(and(eq(runs.id, runId), inArray(runs.state, OPEN_STATES), isNextNotBegun))
    .for("share");
  return run?.isClaimed ?? false;
}

/** Stores a stop request for an open run, in the current transaction. */
export async function recordStop(tx: Transaction, runId: string): Promise<void> {
  await tx
    .update(runs)
    .set({ cancelRequestedAt: sql`coalesce(${runs.cancelRequestedAt}, now())` })
    .where(and(eq(runs.id, runId), inArray(runs.state, OPEN_STATES)));
}

/** The rows that store an accepted follow-up. */
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
  /** The joined run and the number of the session's last event. If the request joins no run: the id of its own run. */
  run: { joinedId: string; afterSeq: number } | { ownId: string };
  messages: NewMessageRow[];
  /** How many of the messages are added to the transcript now: all, or none if the follow-up is queued. */
  placed: number;
  job: Job | undefined;
};

const insert = defineStatement<
  | keyof NewFollowUpRows["request"]
  | ("joinedId" | "afterSeq" | "ownId" | "messages" | "placed" | "jobId" | "jobName" | "jobData")
>(
  (value) => sql`
    with new_request as (
      insert into ${requests} (id, session_id, position, mode, origin, user_id, idempotency_key, body_hash,
        joined_run_id, joined_after_seq)
      values (${value("id")}, ${value("sessionId")}, ${value("position")}, ${value("mode")}, ${value("origin")},
        ${value("userId")}, ${value("idempotencyKey")}, ${value("bodyHash")}, ${value("joinedId")},
        ${value("afterSeq")})
      returning id, session_id, origin
    ), new_run as (
      insert into ${runs} (id, session_id, request_id, attempt, origin)
      select ${value("ownId")}, session_id, id, 1, origin from new_request where ${value("ownId")}::text is not null
    ), new_messages as (
      insert into ${messages} (id, session_id, seq, index, role, parts, request_id, author)
      select m.id, new_request.session_id, m.seq, m.index, m.role, m.parts, new_request.id, m.author
      from new_request, json_to_recordset(${value("messages")}::json)
        as m (id text, seq int, index int, role text, parts json, author text)
    ), counters as (
      update ${sessions} s set message_seq = s.message_seq + ${value("placed")}::int, queue_seq = s.queue_seq + 1
      from new_request where s.id = new_request.session_id
    ), new_job as (
      insert into ${outbox} (id, name, data)
      select ${value("jobId")}, ${value("jobName")}, ${value("jobData")}::jsonb
      where ${value("jobId")}::text is not null
    )
    select id from new_request`,
);

/** Inserts an accepted follow-up in one statement. */
export async function insertFollowUp(tx: Transaction, rows: NewFollowUpRows): Promise<void> {
  const { request, run, placed, job } = rows;
  const values = {
    ...request,
    joinedId: "joinedId" in run ? run.joinedId : null,
    afterSeq: "joinedId" in run ? run.afterSeq : null,
    ownId: "ownId" in run ? run.ownId : null,
    messages: JSON.stringify(rows.messages),
    placed,
    jobId: job?.id ?? null,
    jobName: job?.name ?? null,
    jobData: job ? JSON.stringify(job.data) : null,
  };
  await queryRows(tx, insert(values));
}
