import { and, eq, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { browserHosts, browsers } from "#db/schema/index.ts";
import { queryRows } from "#db/statement.ts";

/**
 * Puts a session into the queue for places, which all hosts share. Has no effect if the session is in the queue already,
 * or if this host does not start its browser.
 */
export async function enqueueSession(db: Executor, hostId: string, sessionId: string): Promise<void> {
  await db
    .update(browsers)
    .set({ waitingSince: sql`coalesce(${browsers.waitingSince}, now())` })
    .where(
      and(eq(browsers.sessionId, sessionId), eq(browsers.status, "creating"), eq(browsers.hostId, hostId)),
    );
}

/**
 * The sessions that wait for a place, at the host `source`, and of which the host with this id, `target`, can start the
 * browser: it is their host, or all processes that can reach their host can reach this one, because both are on the same
 * machine or this one can be reached from other machines. A host of one session's sandbox takes over no session.
 */
const waitingFor = (hostId: string) => sql`${browsers} waiting
  join ${browserHosts} source on source.id = waiting.host_id
  join ${browserHosts} target on target.id = ${hostId}
  where waiting.status = 'creating' and waiting.waiting_since is not null
    and (source.id = target.id or (
      target.places > 0 and source.protocol = target.protocol
      and source.home <> 'sandbox' and target.home <> 'sandbox'
      and (target.home = 'remote' or target.relay_url is not null or source.machine = target.machine)))`;

/** Returns the positions of the sessions that wait at a host, among all that wait for one of its places. 1 is next. */
export async function listPositions(
  db: Executor,
  hostId: string,
): Promise<[sessionId: string, position: number][]> {
  const rows = await queryRows<{ sessionId: string; position: number }>(
    db,
    sql`select session_id as "sessionId", position from (
      select waiting.session_id, waiting.host_id,
        row_number() over (order by waiting.waiting_since, waiting.session_id)::int as position
      from ${waitingFor(hostId)}) queue
    where host_id = ${hostId}`,
  );
  return rows.map(({ sessionId, position }) => [sessionId, position]);
}

/**
 * Takes the session that has waited longest for a place of this host out of the queue, and gives it to this host. Two
 * hosts never get the same session.
 *
 * @param change a new id. If a session was taken with this id already, that session is returned.
 * @returns the session and the host at which it has waited; null if that is no longer known. Undefined if no session
 * waits.
 */
export async function takeNextInQueue(
  db: Executor,
  hostId: string,
  change: string,
): Promise<{ sessionId: string; from: string | null } | undefined> {
  const [next] = await queryRows<{ sessionId: string; from: string | null }>(
    db,
    sql`with taken as (
      select session_id from ${browsers}
      where host_id = ${hostId} and last_change = ${change} and status = 'creating'),
    next as (
      select waiting.session_id, waiting.host_id
      from ${waitingFor(hostId)} and not exists (select from taken)
      order by waiting.waiting_since, waiting.session_id
      limit 1
      for update of waiting skip locked),
    moved as (
      update ${browsers} set waiting_since = null, host_id = ${hostId}, last_change = ${change}, updated_at = now()
      from next where ${browsers.sessionId} = next.session_id
      returning next.session_id, next.host_id)
    select session_id as "sessionId", null as "from" from taken
    union all select session_id, host_id from moved`,
  );
  return next;
}
