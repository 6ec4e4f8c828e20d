import { type SQL, sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client.ts";
import { databaseTime, milliseconds } from "#db/database-time.ts";
import { deliveries, deliveryAttempts, failingEndpoints, outbox, sessions } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";
import { type Job, requestDelivery } from "#lib/session/store/jobs.ts";
import { endpointHost, isCallbackSession, isEndpointOfSession } from "../callback-state-store.ts";

/**
 * A disabled endpoint is probed when its last failure is this long ago. The probe is a held delivery. If the receiver
 * accepts it, the endpoint is enabled.
 */
const PROBE_AFTER_MS = 3_600_000;
/** Maximum age of a held delivery. */
const HELD_MS_MAX = 7 * 24 * 3_600_000;
/** Maximum number of deliveries that one sweep releases for an endpoint, and for all endpoints. */
const RELEASED_PER_ENDPOINT_MAX = 300;
const RELEASED_MAX = 1_000;
/** Maximum number of deliveries that one sweep drops. */
const EXPIRED_MAX = 1_000;

/**
 * Returns how long a delivery waits after a failed probe before it can be a probe again. With the hour before the first
 * probe, its five attempts are distributed over the seven days for which it can be held.
 *
 * @param finished the number of ended attempts, from 1.
 */
export const probeDelayMs = (finished: number): number => PROBE_AFTER_MS * 5 ** finished;

type HeldRow = { id: string; cycle: number; generation: number };

/**
 * Releases held deliveries whose endpoint is enabled again, oldest first and a limited number at once; begins a probe of
 * each endpoint that is due; and drops held deliveries that have become too old. A delivery that is released or becomes
 * a probe gets a new job. Rows that another transaction has locked are left for the next sweep.
 * Source: `wire.md`, Callbacks, Failing endpoints; decision 066.
 *
 * @param disableAfterMs as in `DeliveryDeps`; with 0, all held deliveries are released.
 * @param time the current time, which tests set. Default: the database's time.
 * @returns the new jobs, which are stored in the outbox, and the number of dropped deliveries.
 */
export async function sweepHeldDeliveries(
  db: Database,
  disableAfterMs: number,
  time?: Date,
): Promise<{ jobs: Job[]; expired: number }> {
  const now = databaseTime(time);
  const jobs = await db.transaction(async (tx) => {
    const released = [
      ...(await releaseDeliveries(tx, disableAfterMs, now)),
      ...(disableAfterMs === 0 ? [] : await beginProbes(tx, now)),
    ];
    const created = released.map(requestDelivery);
    if (created.length > 0) await tx.insert(outbox).values(created);
    return created;
  });
  return { jobs, expired: await dropExpired(db, now) };
}

const heldWithEndpoint = sql`${deliveries}
  join ${sessions} on ${isCallbackSession}
  left join ${failingEndpoints} on ${isEndpointOfSession}`;

/** Sets the deliveries of `chosen` to `pending`, and returns them oldest first. */
const release = (chosen: SQL, now: SQL) => sql`, moved as (
    update ${deliveries} set state = 'pending', generation = generation + 1, next_attempt_at = ${now}
    where id in (select id from ${chosen}) and state = 'held' returning id, cycle, generation, created_at
  )
  select id, cycle, generation from moved order by created_at, id`;

const releaseDeliveries = (tx: Transaction, disableAfterMs: number, now: SQL): Promise<HeldRow[]> =>
  queryRows<HeldRow>(
    tx,
    sql`with ready as (
      select ${deliveries.id}, row_number() over (
        partition by ${sessions.ownerId}, ${endpointHost} order by ${deliveries.createdAt}, ${deliveries.id}) as place
      from ${heldWithEndpoint}
      where ${deliveries.state} = 'held'
        and (${failingEndpoints.disabledAt} is null or ${disableAfterMs}::float8 = 0)
    ), free as (
      select id from ${deliveries}
      where id in (select id from ready where place <= ${RELEASED_PER_ENDPOINT_MAX}::int) and state = 'held'
      order by created_at, id limit ${RELEASED_MAX}::int for update skip locked
    )${release(sql`free`, now)}`,
  );

/**
 * Marks the oldest suitable delivery of each endpoint that is due as its probe. A probe that has not ended after an hour
 * is given up, because its delivery or its session may be gone. Times in the future were written before the clock was
 * set back, and count as long ago.
 */
const beginProbes = (tx: Transaction, now: SQL): Promise<HeldRow[]> =>
  queryRows<HeldRow>(
    tx,
    sql`with candidate as (
      select distinct on (${failingEndpoints.ownerId}, ${failingEndpoints.host})
        ${deliveries.id}, ${failingEndpoints.ownerId}, ${failingEndpoints.host}
      from ${heldWithEndpoint}
      where ${deliveries.state} = 'held' and ${isDue(now)}
        and (${deliveries.nextAttemptAt} <= ${now} or ${isExpired(now)})
      order by ${failingEndpoints.ownerId}, ${failingEndpoints.host}, ${deliveries.createdAt}, ${deliveries.id}
    ), free as (
      select ${deliveries.id}, candidate.owner_id, candidate.host
      from ${deliveries} join candidate on candidate.id = ${deliveries.id}
      where ${deliveries.state} = 'held' for update of ${deliveries} skip locked
    ), probe as (
      update ${failingEndpoints} set probe_id = free.id, probed_at = ${now} from free
      where ${failingEndpoints.ownerId} = free.owner_id and ${failingEndpoints.host} = free.host and ${isDue(now)}
      returning free.id
    )${release(sql`probe`, now)}`,
  );

const isDue = (now: SQL) => sql`${failingEndpoints.disabledAt} is not null
  and greatest(${failingEndpoints.disabledAt}, ${failingEndpoints.probedAt})
    not between ${now} - ${milliseconds(PROBE_AFTER_MS)} and ${now}`;

const isExpired = (now: SQL) => sql`${deliveries.createdAt} <= ${now} - ${milliseconds(HELD_MS_MAX)}`;

/**
 * Drops held deliveries that are too old, with the reason as an attempt without a request. While an endpoint is probed,
 * its deliveries are kept: if the service was stopped for days, the probe decides.
 */
async function dropExpired(db: Database, now: SQL): Promise<number> {
  const rows = await queryRows(
    db,
    sql`with expired as (
      select ${deliveries.id}, ${failingEndpoints.host}, ${failingEndpoints.failingSince}
      from ${deliveries}
      join ${sessions} on ${isCallbackSession}
      join ${failingEndpoints} on ${isEndpointOfSession}
      where ${deliveries.state} = 'held' and ${isExpired(now)} and ${failingEndpoints.probeId} is null
      order by ${deliveries.createdAt}, ${deliveries.id} limit ${EXPIRED_MAX}::int
      for update of ${deliveries} skip locked
    ), dropped as (
      update ${deliveries}
      set state = 'dropped', attempts_finished = attempts_finished + 1, next_attempt_at = null
      from expired where ${deliveries.id} = expired.id and ${deliveries.state} = 'held'
      returning ${deliveries.id}, cycle, attempts_finished, host, failing_since
    )
    insert into ${deliveryAttempts} (delivery_id, cycle, number, at, latency_ms, error)
    select id, cycle, attempts_finished, ${now}, 0, 'not sent: it was held for 7 days, because callbacks to ' || host
      || ' are disabled; none was accepted since ' || to_char(failing_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    from dropped returning delivery_id`,
  );
  return rows.length;
}
