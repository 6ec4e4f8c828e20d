import { type SQL, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import {
  deliverables,
  deliveries,
  events,
  messages,
  outbox,
  requests,
  runs,
  sessions,
  steps,
  toolCalls,
  type UsageRow,
} from "#db/schema/index.ts";
import type { PlannedDelivery } from "#lib/callback/plan-delivery.ts";
import type { EventDraft } from "#lib/events/draft-event.ts";
import type { Deliverable } from "#lib/events/event.ts";
import type { Job } from "#lib/session/jobs.ts";
import { OPEN_STATES, playingOrder } from "#lib/session/run-store.ts";
import { unreadSteers } from "#lib/session/steering.ts";
import type { Claim } from "./claim.ts";

/** A step's row: the small value it hands back, and what the model sees from now on. */
export type StepWrite = {
  name: string;
  output: unknown;
  modelMessages?: unknown[] | undefined;
  replacesThrough?: number | undefined;
};

/** How a run ends, and what comes after it. */
export type EndWrite = {
  state: "succeeded" | "errored" | "cancelled";
  error: string | null;
  usage: UsageRow;
  endedAt: Date;
  /** The run that tries again; without one, the next of the queue is sent. */
  retry: { runId: string; attempt: number; notBefore: Date } | undefined;
};

export type MessageWrite = Omit<typeof messages.$inferInsert, "sessionId" | "runId"> & { seq: number };
export type ToolCallWrite = Omit<typeof toolCalls.$inferInsert, "sessionId" | "runId">;

/** Everything a turn writes at once; absent parts are left out of the statement. */
export type TurnWrite = {
  step?: StepWrite | undefined;
  /** Moves the run from `pending` to `running`. */
  startedAt?: Date | undefined;
  isCompacting?: boolean | undefined;
  end?: EndWrite | undefined;
  /** New messages of the run, with their places in the transcript. */
  messages?: MessageWrite[] | undefined;
  /** Messages that waited, and get their places now. */
  placed?: { id: string; seq: number }[] | undefined;
  /** Last place in the transcript after this write. */
  messageSeq?: number | undefined;
  toolCalls?: ToolCallWrite[] | undefined;
  deliverable?: Deliverable | undefined;
  drafts: EventDraft[];
  /** The callback that one of the drafts asks for. */
  delivery?: (PlannedDelivery & { draft: EventDraft }) | undefined;
  jobs?: Job[] | undefined;
};

/** Which runs a write may touch: one whose claim holds, one that waits, or (for a clean-up) any open one. */
export type Fence = "claimed" | "pending" | "open";

/** What a write found and did. */
export type WriteReceipt = {
  isCancelled: boolean;
  /** A message was put into the turn and is not yet read. */
  isSteered: boolean;
  /** The number of the last of the drafts. */
  lastSeq: number;
  /** Where the step stands in what the model has seen. */
  position: number;
  /** The run whose turn comes after the one that ended. */
  following: { id: string; generation: number } | undefined;
};

const list = (values: readonly string[]) => sql.raw(`(${values.map((value) => `'${value}'`).join(", ")})`);
/** The states of a run that has not ended. */
export const OPEN = list(OPEN_STATES);
const asJson = (value: unknown) => sql`${JSON.stringify(value)}::json`;
const asJsonb = (value: unknown) => sql`${JSON.stringify(value) ?? "null"}::jsonb`;
const at = (date: Date) => sql`${date.toISOString()}::timestamptz`;

/** The row that everything else of the statement is written from. A turn does not end over an unread steer, unless a retry will read it. */
function held(claim: Pick<Claim, "runId" | "epoch">, fence: Fence, end: EndWrite | undefined): SQL {
  const condition =
    fence === "claimed"
      ? sql`epoch = ${claim.epoch} and state in ${OPEN}`
      : fence === "pending"
        ? sql`state = 'pending'`
        : sql`state in ${OPEN}`;
  const isRead = end && !end.retry ? sql`and not ${unreadSteers(sql`held_run.request_id`)}` : sql``;
  return sql`held as (
    select id, session_id, request_id, cancel_requested_at is not null as is_cancelled from ${runs} held_run
    where id = ${claim.runId} and ${condition} ${isRead} for no key update)`;
}

function movedRun({ startedAt, isCompacting, end }: TurnWrite): SQL | undefined {
  const set: SQL[] = [];
  if (startedAt) set.push(sql`state = 'running', started_at = coalesce(r.started_at, ${at(startedAt)})`);
  if (isCompacting !== undefined) set.push(sql`is_compacting = ${isCompacting}`);
  if (end)
    set.push(sql`state = ${end.state}, error = ${end.error}, will_retry = ${end.retry !== undefined},
      is_compacting = false, usage = ${asJsonb(end.usage)}, ended_at = ${at(end.endedAt)}`);
  if (set.length === 0) return undefined;
  return sql`moved as (update ${runs} r set ${sql.join(set, sql`, `)} from held where r.id = held.id)`;
}

/** The session's counters, and at a run's end its release. */
function counted({ drafts, messageSeq, end }: TurnWrite): SQL {
  const set = [sql`event_seq = s.event_seq + ${drafts.length}`];
  if (messageSeq !== undefined) set.push(sql`message_seq = ${messageSeq}`);
  if (end)
    set.push(sql`active_run_id = case when s.active_run_id = held.id then null else s.active_run_id end,
      updated_at = now()`);
  return sql`counter as (update ${sessions} s set ${sql.join(set, sql`, `)} from held where s.id = held.session_id
    returning s.event_seq as last_seq)`;
}

function loggedEvents(drafts: EventDraft[]): SQL {
  const rows = drafts.map(({ kind, requestId, runId, head, tail }, index) => ({
    place: index - drafts.length + 1,
    kind,
    request: requestId,
    run: runId,
    head,
    tail,
  }));
  return sql`logged as (insert into ${events} (session_id, seq, kind, request_id, run_id, body)
    select held.session_id, last_seq + d.place, d.kind, d.request, d.run, d.head || (last_seq + d.place) || d.tail
    from held, counter, json_to_recordset(${asJson(rows)})
      as d (place int, kind text, request text, run text, head text, tail text))`;
}

function plannedDelivery(
  drafts: EventDraft[],
  { id, event, head, draft }: PlannedDelivery & { draft: EventDraft },
): SQL {
  const place = drafts.indexOf(draft) - drafts.length + 1;
  return sql`delivered as (insert into ${deliveries} (id, session_id, run_id, event, body, next_attempt_at)
    select ${id}, held.session_id, held.id, ${event},
      ${head + draft.head}::text || (last_seq + ${place}::int) || ${`${draft.tail}}`}::text, now() from held, counter)`;
}

const writtenStep = (step: StepWrite) => sql`written as (
  insert into ${steps} (run_id, session_id, name, output, model_messages, replaces_through)
  select id, session_id, ${step.name}, ${asJsonb(step.output)},
    ${step.modelMessages ? JSON.stringify(step.modelMessages) : null}::jsonb, ${step.replacesThrough ?? null}::bigint
  from held returning position)`;

const addedMessages = (rows: MessageWrite[]) => sql`said as (
  insert into ${messages} (id, session_id, seq, role, parts, request_id, run_id, author, created_at)
  select m.id, held.session_id, m.seq, m.role, m.parts, held.request_id, held.id, null, m."createdAt"
  from held, json_to_recordset(${asJson(rows)})
    as m (id text, seq int, role text, parts jsonb, "createdAt" timestamptz))`;

const placedMessages = (rows: { id: string; seq: number }[]) => sql`placed as (
  update ${messages} m set seq = p.seq from held, json_to_recordset(${asJson(rows)}) as p (id text, seq int)
  where m.id = p.id)`;

const endedCalls = (rows: ToolCallWrite[]) => sql`called as (
  insert into ${toolCalls} (run_id, call_id, session_id, result_id, name, input, state, result_text, started_at, ended_at)
  select held.id, c."callId", held.session_id, c."resultId", c.name, c.input, c.state, c."resultText", c."startedAt",
    c."endedAt"
  from held, json_to_recordset(${asJson(rows)}) as c ("callId" text, "resultId" text, name text, input jsonb,
    state text, "resultText" text, "startedAt" timestamptz, "endedAt" timestamptz)
  on conflict (run_id, call_id) do update set state = excluded.state, result_text = excluded.result_text,
    result_id = excluded.result_id, ended_at = excluded.ended_at)`;

/** A deliverable that is settled stays as it is. */
function settledDeliverable(deliverable: Deliverable): SQL {
  const value = deliverable.status === "ready" ? JSON.stringify(deliverable.value) : null;
  const error = deliverable.status === "failed" ? deliverable.error : null;
  const rawText = deliverable.status === "failed" ? (deliverable.rawText ?? null) : null;
  return sql`settled as (
    insert into ${deliverables} as d (run_id, session_id, status, value, error, raw_text)
    select id, session_id, ${deliverable.status}, ${value}::jsonb, ${error}::text, ${rawText}::text from held
    on conflict (run_id) do update set status = excluded.status, value = excluded.value, error = excluded.error,
      raw_text = excluded.raw_text where d.status = 'pending')`;
}

const enqueuedJobs = (jobs: Job[]) => sql`sent as (insert into ${outbox} (id, name, data)
  select j.id, j.name, j.data from held, json_to_recordset(${asJson(jobs)}) as j (id text, name text, data jsonb))`;

const insertedRetry = ({ runId, attempt, notBefore }: NonNullable<EndWrite["retry"]>) => sql`retried as (
  insert into ${runs} (id, session_id, request_id, attempt, origin, not_before)
  select ${runId}, session_id, request_id, ${attempt}::int, 'retry', ${at(notBefore)} from held)`;

/**
 * The run behind the one that ends, if that was the first in line; its generation is raised, so that the engine does
 * not take its job for a duplicate of an earlier one. A retry stands where the run stood: only an interrupt is before it.
 */
const followingRun = (hasRetry: boolean) => sql`lined as (
  select ${runs.id}, ${requests.mode}, row_number() over (order by ${sql.join(playingOrder, sql`, `)}) as place
  from ${runs} join ${requests} on ${requests.id} = ${runs.requestId}
  where ${runs.sessionId} = (select session_id from held) and ${runs.state} in ${OPEN}
), following as (
  update ${runs} r set generation = r.generation + 1 from lined
  where r.id = lined.id and lined.place = 2 and exists (
    select 1 from lined l, held where l.place = 1 and l.id = held.id
      and (not ${hasRetry}::boolean or (lined.mode = 'interrupt' and l.mode <> 'interrupt')))
  returning r.id, r.session_id, r.generation
), followed as (
  insert into ${outbox} (id, name, data)
  select id || ':' || generation, 'turn/run.requested',
    json_build_object('runId', id, 'sessionId', session_id, 'generation', generation)::jsonb from following)`;

/**
 * Writes all of it in one statement, or nothing where the fence does not hold. At a run's end the caller holds the
 * locks of run and session already, so that the queue it sees is the queue as it is.
 *
 * @returns undefined where the fence did not hold.
 */
export async function writeTurn(
  db: Executor,
  claim: Pick<Claim, "runId" | "epoch">,
  write: TurnWrite,
  fence: Fence = "claimed",
): Promise<WriteReceipt | undefined> {
  const { drafts, end } = write;
  const moved = movedRun(write);
  const parts = [
    held(claim, fence, end),
    moved,
    (drafts.length > 0 || write.messageSeq !== undefined || end) && counted(write),
    drafts.length > 0 && loggedEvents(drafts),
    write.delivery && plannedDelivery(drafts, write.delivery),
    write.step && writtenStep(write.step),
    write.messages?.length && addedMessages(write.messages),
    write.placed?.length && placedMessages(write.placed),
    write.toolCalls?.length && endedCalls(write.toolCalls),
    write.deliverable && settledDeliverable(write.deliverable),
    write.jobs?.length && enqueuedJobs(write.jobs),
    end?.retry && insertedRetry(end.retry),
    end && followingRun(end.retry !== undefined),
  ].filter((part) => typeof part === "object");
  const columns = [sql`is_cancelled`];
  if (drafts.length > 0) columns.push(sql`(select last_seq from counter)`);
  if (write.step)
    columns.push(
      sql`(select position from written)`,
      sql`${unreadSteers(sql`held.request_id`)} as is_steered`,
    );
  if (end)
    columns.push(
      sql`(select json_build_object('id', id, 'generation', generation) from following) as following`,
    );
  // Every driver answers with rows; which one it is, Drizzle's type leaves open.
  const { rows } = (await db.execute(
    sql`with ${sql.join(parts, sql`, `)} select ${sql.join(columns, sql`, `)} from held`,
  )) as unknown as {
    rows: {
      is_cancelled: boolean;
      is_steered?: boolean;
      last_seq?: number | string;
      position?: number | string;
      following?: WriteReceipt["following"] | null;
    }[];
  };
  const [row] = rows;
  if (!row) return undefined;
  return {
    isCancelled: row.is_cancelled,
    isSteered: row.is_steered ?? false,
    lastSeq: Number(row.last_seq ?? 0),
    position: Number(row.position ?? 0),
    following: row.following ?? undefined,
  };
}
