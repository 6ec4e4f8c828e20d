import { type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { landingPages, reports, runs, sessions, variants } from "#db/schema/index.ts";
import type { ListedOutcome } from "#lib/events/outcome-schemas.ts";
import { unreadSteers } from "#lib/session/follow-up/steering.ts";
import { OPEN } from "#lib/session/store/run-store.ts";
import type { Fence } from "./turn-write.ts";

/**
 * How a statement locks. `name` is the name of the part that has a row for each locked run, with `values`, the columns of
 * its write. `order` sorts the rows of several writes, so that two statements cannot wait for each other, and `skip`
 * leaves out rows that are locked. `mayBeUnlessSteered`: whether a write can be one that needs all messages to be read.
 */
type Lock = { name: SQL; values: SQL; order: SQL; skip: SQL; mayBeUnlessSteered: boolean };

/**
 * The parts of the statement that lock sessions and then runs (`architecture.md`, Locks), by fence. All other parts depend
 * on them. They have no row for a write whose fence does not hold, or that must not be written while a message that
 * joined the turn is unread.
 */
export const LOCKS: Record<Fence, (lock: Lock) => SQL> = {
  claimed: lockIf("claimed", sql`candidate.epoch = write.epoch and candidate.state in ${OPEN}`),
  pending: lockIf("pending", sql`candidate.state = 'pending'`),
  open: lockIf("open", sql`candidate.state in ${OPEN}`),
  alone: lockIfAlone,
  fresh: lockIfFresh,
};

/** The writes with a fence. The planner expects few rows, so that it looks runs and sessions up by their ids. */
const writesWith = (fence: Fence) => sql`write.fence = ${sql.raw(`'${fence}'`)}`;

function lockIf(fence: Fence, condition: SQL) {
  return ({ values, order, skip, name, mayBeUnlessSteered }: Lock) => sql`locked as (
  select session.id from write join ${runs} run on run.id = write.run join ${sessions} session on session.id = run.session_id
  where ${writesWith(fence)} ${order} for no key update of session ${skip}
), ${name} as (
  select candidate.id, candidate.session_id, candidate.request_id, candidate.cancel_requested_at is not null as is_cancelled${values}
  from write join ${runs} candidate on candidate.id = write.run
  where ${writesWith(fence)} and candidate.session_id in (select id from locked) and ${condition}
    ${mayBeUnlessSteered ? sql`and not (write."unlessSteered" and ${unreadSteers(sql`candidate.request_id`)})` : sql``} for no key update of candidate)`;
}

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
function lockIfAlone({ values, order, skip, name }: Lock): SQL {
  return sql`${name} as (
  select run.id, run.session_id, run.request_id, false as is_cancelled${values}
  from write join ${runs} run on run.id = write.run join ${sessions} session on session.id = run.session_id
    join ${sessions} seen on seen.id = session.id
  where ${writesWith("alone")} and run.epoch = write.epoch and run.state = 'running' and run.cancel_requested_at is null
    and session.event_seq = seen.event_seq and session.queue_seq = seen.queue_seq
    and not exists (select from ${runs} other
      where other.session_id = session.id and other.id <> run.id and other.state in ${OPEN})
    and not ${unreadSteers(sql`run.request_id`)}
    and not ${hasOutcomes}
  ${order} for no key update of session, run ${skip})`;
}

/**
 * Among other conditions, requires that the session's counters are 0. Every addition to the session raises one of them.
 */
function lockIfFresh({ values, order, skip, name }: Lock): SQL {
  return sql`${name} as (
  select run.id, run.session_id, run.request_id, false as is_cancelled${values}
  from write join ${runs} run on run.id = write.run join ${sessions} session on session.id = run.session_id
  where ${writesWith("fresh")} and run.epoch = write.epoch - 1 and run.state = 'pending'
    and run.generation <= write.generation and run.attempt = 1 and run.parked_at is null
    and run.cancel_requested_at is null
    and session.event_seq = 0 and session.queue_seq = 0 and session.active_run_id is null
  ${order} for no key update of session, run ${skip})`;
}
