import { and, eq, exists, inArray, type Placeholder, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database, Executor } from "#db/client.ts";
import { deliveries, deliveryAttempts, failingEndpoints, sessions } from "#db/schema/index.ts";
import { defineStatement, prepareOnce, queryRows } from "#db/statement.ts";
import { describeJob, type JobValue, storedJob } from "#lib/session/store/job-store.ts";
import type { Job, PlannedJob } from "#lib/session/store/jobs.ts";
import {
  type CallbackState,
  endpointHost,
  isCallbackSession,
  isEndpointOfSession,
  sealedCallback,
} from "./callback-state-store.ts";

export type DeliveryRow = typeof deliveries.$inferSelect;
export type AttemptRow = typeof deliveryAttempts.$inferSelect;

/** A delivery with everything that an attempt needs, and the database's time when it was read. */
export type DeliveryToMake = CallbackState & {
  row: DeliveryRow;
  ownerId: string;
  /** The session that has the callback: that of the row, or its root session. */
  callbackSessionId: string;
  /** The URL in the session's row. It is masked if the full URL is stored encrypted. */
  url: string | null;
  /** Host and port of the URL. */
  host: string | null;
  /** If the endpoint is disabled and is being probed, the id of the delivery that is the probe. */
  probeId: string | null;
  readAtMs: number;
  /** Whether the attempt must wait because the first attempt at the run's `run.started` has not ended. */
  mustWait: boolean;
  hasBegun: boolean;
};

const beginStatement = prepareOnce((db) => {
  const { placeholder } = sql;
  const earlier = alias(deliveries, "earlier");
  const isStartUnattempted = exists(
    db
      .select({ id: earlier.id })
      .from(earlier)
      .where(
        and(
          eq(earlier.runId, deliveries.runId),
          eq(earlier.event, "run.started"),
          eq(earlier.cycle, 1),
          eq(earlier.attemptsFinished, 0),
          inArray(earlier.state, ["pending", "sending", "held"]),
        ),
      ),
  );
  const mustWait = sql<boolean>`(${placeholder("isOrdered")}::boolean and ${deliveries.event} <> 'run.started'
    and ${isStartUnattempted})`;
  const begun = db.$with("begun", { id: sql<string>`id`.as("id") }).as(sql`
    update ${deliveries} set state = 'sending', next_attempt_at = coalesce(${placeholder("at")}::timestamptz, now())
    where ${deliveries.id} = ${placeholder("deliveryId")} and ${deliveries.cycle} = ${placeholder("cycle")}::int
      and ${deliveries.attemptsFinished} = ${placeholder("number")}::int - 1
      and ${deliveries.state} in ('pending', 'sending') and not ${mustWait}
    returning id`);
  return db
    .with(begun)
    .select({
      row: deliveries,
      ownerId: sessions.ownerId,
      callbackSessionId: sessions.id,
      url: sessions.callbackUrl,
      sealed: sealedCallback(sessions.id),
      host: endpointHost,
      failingSince: failingEndpoints.failingSince,
      disabledAt: failingEndpoints.disabledAt,
      probeId: failingEndpoints.probeId,
      readAtMs: sql<number>`(extract(epoch from now()) * 1000)::float8`.mapWith(Number),
      mustWait,
      hasBegun: sql<boolean>`exists (select from begun)`,
    })
    .from(deliveries)
    .innerJoin(sessions, isCallbackSession)
    .leftJoin(failingEndpoints, isEndpointOfSession)
    .where(eq(deliveries.id, placeholder("deliveryId")))
    .prepare("begin_attempt");
});

/**
 * Begins an attempt at a delivery in one statement. `hasBegun` of the result is false if the delivery has ended, if the
 * attempt is not the next one of the delivery's current cycle, or if the attempt must wait for the first attempt at the
 * run's `run.started`.
 *
 * @param attempt.at the start time; null for the database's time.
 * @returns the delivery before the change, its session's callback and the state of the callback's endpoint; undefined
 * if the delivery or its session is gone.
 */
export async function beginAttempt(
  db: Database,
  attempt: { deliveryId: string; cycle: number; number: number; isOrdered: boolean; at: Date | null },
): Promise<DeliveryToMake | undefined> {
  const [found] = await beginStatement(db).execute({ ...attempt, at: attempt.at?.toISOString() ?? null });
  return found;
}

type MoveFrom = Pick<DeliveryRow, "id" | "cycle" | "attemptsFinished" | "state">;
type MoveTo = Pick<DeliveryRow, "state" | "attemptsFinished" | "nextAttemptAt">;
type MoveValue = "id" | "cycle" | "finished" | "state" | "newState" | "newFinished" | "nextAttemptAt";

const moved = (value: (name: MoveValue) => Placeholder) => sql`moved as (
  update ${deliveries} set state = ${value("newState")}, attempts_finished = ${value("newFinished")}::int,
    next_attempt_at = ${value("nextAttemptAt")}::timestamptz
  where id = ${value("id")} and cycle = ${value("cycle")}::int and attempts_finished = ${value("finished")}::int
    and state = ${value("state")} returning id)`;

const describeMove = (from: MoveFrom, to: MoveTo): Record<MoveValue, unknown> => ({
  id: from.id,
  cycle: from.cycle,
  finished: from.attemptsFinished,
  state: from.state,
  newState: to.state,
  newFinished: to.attemptsFinished,
  nextAttemptAt: to.nextAttemptAt?.toISOString() ?? null,
});

const holdStatement = defineStatement<MoveValue>((value) => sql`with ${moved(value)} select id from moved`);

/**
 * Holds a delivery back without an attempt. @returns whether it is held now; false if it has changed since it was read.
 */
export async function holdDelivery(db: Executor, from: MoveFrom, to: MoveTo): Promise<boolean> {
  return (await queryRows(db, holdStatement(describeMove(from, to)))).length > 0;
}

/** A change of an endpoint's state after an attempt. `probe_failed` is about an endpoint that is disabled already. */
export type EndpointReport = {
  ownerId: string;
  host: string;
  verdict: "accepted" | "dropped" | "probe_failed";
  /** After how many milliseconds of failures the endpoint is disabled; 0 to never disable it. */
  disableAfterMs: number;
};

/** The number of dropped deliveries that is needed to disable an endpoint, however long the endpoint has failed. */
const DROPPED_MIN = sql.raw("3");

type AttemptValue = MoveValue | "number" | "at" | "status" | "latencyMs" | "error" | "excerpt";

/** Builds the SQL that changes a delivery's state and writes its attempt. */
const settled = (value: (name: AttemptValue) => Placeholder) => sql`${moved(value)}, attempted as (
  insert into ${deliveryAttempts} (delivery_id, cycle, number, at, status, latency_ms, error, excerpt)
  select id, ${value("cycle")}::int, ${value("number")}::int, ${value("at")}::timestamptz, ${value("status")}::int,
    ${value("latencyMs")}::int, ${value("error")}::text, ${value("excerpt")}::text from moved)`;

const settleStatement = defineStatement<AttemptValue>(
  (value) => sql`with ${settled(value)} select id, false as "isDisabledNow" from moved`,
);

/** Like `settleStatement`, but also changes the endpoint's state. */
const settleEndpointStatement = defineStatement<
  AttemptValue | "ownerId" | "host" | "verdict" | "disableAfterMs"
>(
  (value) => sql`with ${settled(value)}, recovered as (
    delete from ${failingEndpoints} where owner_id = ${value("ownerId")} and host = ${value("host")}
      and ${value("verdict")}::text = 'accepted' and exists (select from moved)
  ), probed as (
    update ${failingEndpoints} set disabled_at = ${value("at")}::timestamptz, probe_id = null
    where owner_id = ${value("ownerId")} and host = ${value("host")}
      and ${value("verdict")}::text = 'probe_failed' and probe_id in (select id from moved)
  ), failing as (
    insert into ${failingEndpoints} as existing (owner_id, host, failing_since, dropped)
    select ${value("ownerId")}, ${value("host")}, ${value("at")}::timestamptz, 1 from moved
    where ${value("verdict")}::text = 'dropped'
    on conflict (owner_id, host) do update set dropped = existing.dropped + 1,
      disabled_at = case
        when ${value("disableAfterMs")}::float8 = 0 then existing.disabled_at
        when existing.disabled_at is not null then excluded.failing_since
        when existing.dropped + 1 >= ${DROPPED_MIN}
          and extract(epoch from excluded.failing_since - existing.failing_since) * 1000 >= ${value("disableAfterMs")}::float8
        then excluded.failing_since else existing.disabled_at end
    returning disabled_at
  )
  select moved.id, failing.disabled_at = ${value("at")}::timestamptz as "isDisabledNow"
  from moved left join failing on true`,
);

/**
 * Writes a finished attempt, the delivery's new state and the change of its endpoint, in one statement.
 *
 * @param endpoint null if the endpoint's state does not change, for example while the delivery has further attempts.
 * @returns undefined if the delivery has changed since it was read; nothing is written then.
 */
export async function storeAttempt(
  db: Executor,
  from: MoveFrom,
  to: MoveTo,
  { number, at, status, latencyMs, error, excerpt }: Omit<AttemptRow, "deliveryId" | "cycle">,
  endpoint: EndpointReport | null,
): Promise<{ isEndpointDisabledNow: boolean } | undefined> {
  const attempt = { number, at: at.toISOString(), status, latencyMs, error, excerpt };
  const values = { ...describeMove(from, to), ...attempt };
  const [row] = await queryRows<{ isDisabledNow: boolean | null }>(
    db,
    endpoint === null ? settleStatement(values) : settleEndpointStatement({ ...values, ...endpoint }),
  );
  return row && { isEndpointDisabledNow: row.isDisabledNow === true };
}

/** Finds a finished attempt of a delivery. */
export async function findAttempt(
  db: Executor,
  key: Pick<AttemptRow, "deliveryId" | "cycle" | "number">,
): Promise<AttemptRow | undefined> {
  const [row] = await db
    .select()
    .from(deliveryAttempts)
    .where(
      and(
        eq(deliveryAttempts.deliveryId, key.deliveryId),
        eq(deliveryAttempts.cycle, key.cycle),
        eq(deliveryAttempts.number, key.number),
      ),
    );
  return row;
}

const reopenStatement = defineStatement<"id" | "cycle" | "state" | "newState" | "now" | JobValue>(
  (value) => sql`with moved as (
    update ${deliveries} set state = ${value("newState")}, cycle = cycle + 1, attempts_finished = 0,
      next_attempt_at = ${value("now")}::timestamptz
    where id = ${value("id")} and cycle = ${value("cycle")}::int and state = ${value("state")} returning id
  ), ${storedJob(value, sql`moved`)}
  select id from moved`,
);

/**
 * Reopens a delivery that has ended or is held, for a new cycle of attempts with the same bytes and id. Also stores `job`,
 * which makes these attempts.
 *
 * @returns the changed row; undefined if the state or cycle has changed since the row was read.
 */
export async function reopenDelivery(
  db: Executor,
  from: DeliveryRow,
  to: Pick<DeliveryRow, "state">,
  { now, job, planned }: { now: Date; job: Job; planned: PlannedJob | undefined },
): Promise<DeliveryRow | undefined> {
  const { id, cycle, state } = from;
  const rows = await queryRows(
    db,
    reopenStatement({
      id,
      cycle,
      state,
      newState: to.state,
      now: now.toISOString(),
      ...describeJob(job, planned),
    }),
  );
  if (rows.length === 0) return undefined;
  return { ...from, state: to.state, cycle: cycle + 1, attemptsFinished: 0, nextAttemptAt: now };
}
