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
 * Takes the session that has waited longest out of the queue and gives it to this host, if a place of this host can be
 * used by all processes that can reach its present host: the two hosts are on the same machine, or this host can be
 * reached from other machines. A host of one session's sandbox takes part in no queue. Two hosts never get the same
 * session.
 *
 * @returns the session and the host at which it has waited; undefined if no session waits.
 */
export async function takeNextInQueue(
  db: Executor,
  hostId: string,
): Promise<{ sessionId: string; from: string } | undefined> {
  const [next] = await queryRows<{ sessionId: string; from: string }>(
    db,
    sql`with next as (
      select waiting.session_id, waiting.host_id
      from ${browsers} waiting
      join ${browserHosts} source on source.id = waiting.host_id
      join ${browserHosts} target on target.id = ${hostId}
      where waiting.status = 'creating' and waiting.waiting_since is not null
        and (source.id = target.id or (
          target.places > 0 and source.protocol = target.protocol
          and source.home <> 'sandbox' and target.home <> 'sandbox'
          and (target.home = 'remote' or target.relay_url is not null or source.machine = target.machine)))
      order by waiting.waiting_since, waiting.session_id
      limit 1
      for update of waiting skip locked)
    update ${browsers} set waiting_since = null, host_id = ${hostId}, updated_at = now()
    from next where ${browsers.sessionId} = next.session_id
    returning next.session_id as "sessionId", next.host_id as "from"`,
  );
  return next;
}
