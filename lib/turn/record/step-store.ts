import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Executor } from "#db/client.ts";
import { landingPages, reports, runs, sessions, variants } from "#db/schema/index.ts";
import { defineStatement, queryRows, type Statement, type Value } from "#db/statement.ts";
import type { ListedOutcome } from "#lib/events/outcome-schemas.ts";
import { unreadSteers } from "#lib/session/follow-up/steering.ts";
import { OPEN } from "#lib/session/store/run-store.ts";
import type { Claim } from "./claim.ts";
import { PARTS } from "./step-parts-store.ts";
import type { Fence, TurnWrite, WriteReceipt } from "./turn-write.ts";

type PlainFence = Exclude<Fence, "alone" | "fresh">;

const FENCES: Record<PlainFence, (value: Value<string>) => SQL> = {
  claimed: (value) => sql`epoch = ${value("epoch")} and state in ${OPEN}`,
  pending: () => sql`state = 'pending'`,
  open: () => sql`state in ${OPEN}`,
};

/**
 * The part of the statement that locks the session and then the run (`architecture.md`, Locks). All other parts depend
 * on it. It has no row if the fence does not hold, or if `unlessSteered` is true and a message that joined the turn is
 * unread.
 */
const lockRun = (value: Value<string>, fence: Fence, unlessSteered: boolean) =>
  fence === "alone"
    ? lockIfAlone(value)
    : fence === "fresh"
      ? lockIfFresh(value)
      : lockIf(value, fence, unlessSteered);

const lockIf = (value: Value<string>, fence: PlainFence, unlessSteered: boolean) => sql`locked as (
  select id from ${sessions}
  where id = (select session_id from ${runs} where id = ${value("runId")}) for no key update
), locked_run as (
  select id, session_id, request_id, cancel_requested_at is not null as is_cancelled from ${runs} candidate
  where id = ${value("runId")} and session_id = (select id from locked) and ${FENCES[fence](value)}
    ${unlessSteered ? sql`and not ${unreadSteers(sql`candidate.request_id`)}` : sql``} for no key update)`;

/** The tables of the outcomes that `run.completed` lists. Their rows are read under locks when a turn ends. */
const OUTCOME_TABLES: Record<ListedOutcome, PgTable> = { variants, reports, pages: landingPages };

const hasOutcomes = sql`(${sql.join(
  Object.values(OUTCOME_TABLES).map(
    (table) => sql`exists (select from ${table} outcome where outcome.session_id = session.id)`,
  ),
  sql` or `,
)})`;

/**
 * Among other conditions, requires that nothing was added to the session since the statement began. A statement reads
 * the snapshot of its start, but a message or a variant can be committed between the snapshot and the locks. Every such
 * addition raises a counter of the session, so the join with `seen` (the snapshot) then finds no row.
 */
const lockIfAlone = (value: Value<string>) => sql`locked_run as (
  select run.id, run.session_id, run.request_id, false as is_cancelled
  from ${sessions} session join ${sessions} seen on seen.id = session.id join ${runs} run on run.session_id = session.id
  where run.id = ${value("runId")} and run.epoch = ${value("epoch")} and run.state = 'running'
    and run.cancel_requested_at is null
    and session.event_seq = seen.event_seq and session.queue_seq = seen.queue_seq
    and not exists (select from ${runs} other
      where other.session_id = session.id and other.id <> run.id and other.state in ${OPEN})
    and not ${unreadSteers(sql`run.request_id`)}
    and not ${hasOutcomes}
  for no key update of session, run)`;

/**
 * Among other conditions, requires that the session's counters are 0. Every addition to the session raises one of them.
 */
const lockIfFresh = (value: Value<string>) => sql`locked_run as (
  select run.id, run.session_id, run.request_id, false as is_cancelled
  from ${sessions} session join ${runs} run on run.session_id = session.id
  where run.id = ${value("runId")} and run.epoch = ${value("epoch")}::int - 1 and run.state = 'pending'
    and run.generation <= ${value("generation")}::int and run.attempt = 1 and run.parked_at is null
    and run.cancel_requested_at is null
    and session.event_seq = 0 and session.queue_seq = 0 and session.active_run_id is null
  for no key update of session, run)`;

/** The name of a part. The statement has its parts in the order of {@link PARTS}. */
type PartName = keyof typeof PARTS;

/** The result columns that each part adds to the statement. */
const COLUMNS: Partial<Record<PartName, SQL>> = {
  insertEvents: sql`(select last_seq from updated_session)`,
  insertStep: sql`(select position from insert_step), ${unreadSteers(sql`locked_run.request_id`)} as is_steered`,
  insertTwoSteps: sql`(select max(position) from insert_step) as position,
    (select min(position) from insert_step) as position_before, ${unreadSteers(sql`locked_run.request_id`)} as is_steered`,
  enqueueNextRun: sql`(select json_build_object('id', id, 'generation', generation) from next_run) as following`,
};

type Row = {
  is_cancelled: boolean;
  is_steered?: boolean;
  last_seq?: number | string;
  position?: number | string;
  position_before?: number | string;
  following?: WriteReceipt["following"] | null;
};

/** Cache of composed statements, by fence and parts. */
const statements = new Map<string, Statement<string>>();

function findStatement(fence: Fence, names: PartName[], unlessSteered: boolean): Statement<string> {
  const key = `${fence} ${unlessSteered} ${names.join(" ")}`;
  const cached = statements.get(key);
  if (cached) return cached;
  const columns = [sql`is_cancelled`, ...names.flatMap((name) => COLUMNS[name] ?? [])];
  const statement = defineStatement<string>((value) => {
    const parts = names.map((name) => PARTS[name].text(value));
    const all = [lockRun(value, fence, unlessSteered), ...parts];
    return sql`with ${sql.join(all, sql`, `)} select ${sql.join(columns, sql`, `)} from locked_run`;
  });
  statements.set(key, statement);
  return statement;
}

/**
 * Writes everything in one statement, or nothing. To end a run, the caller must hold the locks of the run and the
 * session, so that the queue cannot change meanwhile. With the fence `alone`, the caller needs no locks.
 *
 * @returns undefined if nothing was written: the fence did not hold, or a message that joined the turn is unread and
 * the write does not allow this (`unlessSteered`).
 */
export async function writeTurn(
  db: Executor,
  { runId, epoch }: Pick<Claim, "runId" | "epoch">,
  write: TurnWrite,
  fence: Fence = "claimed",
): Promise<WriteReceipt | undefined> {
  const values: Record<string, unknown> = { runId, epoch };
  const names = (Object.keys(PARTS) as PartName[]).filter((name) => {
    const read = PARTS[name].read(write);
    // The fence `alone` requires that no other run is open, so no run follows.
    if (!read || (fence === "alone" && name === "enqueueNextRun")) return false;
    Object.assign(values, read);
    return true;
  });
  // A message that joined the turn must be read before the turn ends, by this run or by its retry.
  const unlessSteered = write.unlessSteered ?? (write.end !== undefined && write.end.retry === undefined);
  const rows = await queryRows<Row>(db, findStatement(fence, names, unlessSteered)(values));
  const [row] = rows;
  if (!row) return undefined;
  return {
    isCancelled: row.is_cancelled,
    isSteered: row.is_steered ?? false,
    lastSeq: Number(row.last_seq ?? 0),
    position: Number(row.position ?? 0),
    positionBefore: Number(row.position_before ?? row.position ?? 0),
    following: row.following ?? undefined,
  };
}
