import { and, eq, inArray, isNull, ne, or, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { browserHosts, browsers, sessions } from "#db/schema/index.ts";
import type { UnrecordedSessions } from "../host-calls.ts";

export type HostRow = typeof browserHosts.$inferSelect;
type NewHost = Omit<HostRow, "leaseUntil" | "createdAt" | "load" | "relayUrl">;

/** How long a host may run scripts and input after its lease was renewed. */
export const LEASE_MS = 10_000;
const untilLeaseEnds = sql`now() + ${LEASE_MS} * interval '1 millisecond'`;

/** Stores a host with a new lease. A host that is stored already keeps its lease. */
export async function storeHost(db: Executor, host: NewHost): Promise<HostRow> {
  const { id, ...fields } = host;
  const [row] = await db
    .insert(browserHosts)
    .values({ ...host, leaseUntil: untilLeaseEnds })
    .onConflictDoUpdate({ target: browserHosts.id, set: fields })
    .returning();
  if (!row) throw new Error(`the browser host ${id} was not stored`);
  return row;
}

/** Stores the host of a session's box with a new lease. @returns undefined if the session has one already. */
export async function insertBoxedHost(db: Executor, host: NewHost): Promise<HostRow | undefined> {
  const [row] = await db
    .insert(browserHosts)
    .values({ ...host, leaseUntil: untilLeaseEnds })
    .onConflictDoNothing({ target: browserHosts.sessionId })
    .returning();
  return row;
}

/** Reads the host of a session's box. Undefined if there is none. */
export async function readBoxedHost(db: Executor, sessionId: string): Promise<HostRow | undefined> {
  const [row] = await db.select().from(browserHosts).where(eq(browserHosts.sessionId, sessionId));
  return row;
}

/** Whether a host is stored, and its lease is valid. */
export async function readLease(db: Executor, id: string): Promise<{ isStored: boolean; isValid: boolean }> {
  const [found] = await db
    .select({ isValid: sql<boolean>`${browserHosts.leaseUntil} > now()` })
    .from(browserHosts)
    .where(eq(browserHosts.id, id));
  return { isStored: found !== undefined, isValid: found?.isValid ?? false };
}

/** Whether a browser of a host was used within this time. */
export async function isHostUsed(db: Executor, id: string, withinMs: number): Promise<boolean> {
  const [row] = await db
    .select({ id: browsers.sessionId })
    .from(browsers)
    .where(
      and(
        eq(browsers.hostId, id),
        sql`${browsers.lastUsedAt} > now() - ${withinMs} * interval '1 millisecond'`,
      ),
    )
    .limit(1);
  return row !== undefined;
}

/** Renews the lease of a host. @returns whether the host is stored; if not, it was given up. */
export async function renewHost(
  db: Executor,
  id: string,
  state: Partial<Pick<HostRow, "load" | "places" | "relayUrl">>,
): Promise<boolean> {
  const rows = await db
    .update(browserHosts)
    .set({ ...state, leaseUntil: untilLeaseEnds })
    .where(eq(browserHosts.id, id))
    .returning({ id: browserHosts.id });
  return rows.length > 0;
}

/** Gives a host up. Its browsers count as lost from then on. */
export async function removeHost(db: Executor, id: string): Promise<void> {
  await db.delete(browserHosts).where(eq(browserHosts.id, id));
}

/** Gives up the remote hosts that have listened at an address before this one. @returns whether there were any. */
export async function removeEarlierHosts(db: Executor, { id, url }: { id: string; url: string }) {
  const rows = await db
    .delete(browserHosts)
    .where(and(eq(browserHosts.home, "remote"), eq(browserHosts.url, url), ne(browserHosts.id, id)))
    .returning({ id: browserHosts.id });
  return rows.length > 0;
}

/** Lists the hosts of this machine and those that can be reached from every machine, also of other versions. */
export const listHosts = (db: Executor, machine: string): Promise<HostRow[]> =>
  db
    .select()
    .from(browserHosts)
    .where(
      and(
        or(isNull(browserHosts.machine), eq(browserHosts.machine, machine)),
        sql`${browserHosts.leaseUntil} > now() - interval '1 hour'`,
      ),
    )
    .orderBy(browserHosts.createdAt);

/**
 * Chooses the least loaded of these hosts for a session that is about to start there, and counts the session at once:
 * the host itself counts it only when it renews its lease. Undefined if all of them were given up or are about to end.
 */
export async function reserveHost(db: Executor, ids: string[]): Promise<HostRow | undefined> {
  if (ids.length === 0) return undefined;
  const least = sql`(select id from ${browserHosts} host where ${inArray(sql`host.id`, ids)} and host.places > 0
    order by host.load::float8 / host.places, host.created_at limit 1 for update)`;
  const [row] = await db
    .update(browserHosts)
    .set({ load: sql`${browserHosts.load} + 1` })
    .where(eq(browserHosts.id, least))
    .returning();
  return row;
}

/** Whether a host is stored and has renewed its lease in time. */
export async function isHostAlive(db: Executor, id: string): Promise<boolean> {
  const rows = await db
    .select({ id: browserHosts.id })
    .from(browserHosts)
    .where(and(eq(browserHosts.id, id), sql`${browserHosts.leaseUntil} > now()`));
  return rows.length > 0;
}

/** Reads one host. Undefined if it was given up. */
export async function readHost(db: Executor, id: string): Promise<HostRow | undefined> {
  const [row] = await db.select().from(browserHosts).where(eq(browserHosts.id, id));
  return row;
}

/** Finds those of these sessions whose browser is not recorded as starting or running at this host. */
export async function findUnrecorded(
  db: Executor,
  hostId: string,
  sessionIds: string[],
): Promise<UnrecordedSessions> {
  if (sessionIds.length === 0) return { elsewhere: [], ended: [] };
  const rows = await db
    .select({ sessionId: sessions.id, hostId: browsers.hostId, status: browsers.status })
    .from(sessions)
    .leftJoin(browsers, eq(browsers.sessionId, sessions.id))
    .where(inArray(sessions.id, sessionIds));
  const found = new Map(rows.map((row) => [row.sessionId, row]));
  const isElsewhere = (row: (typeof rows)[number] | undefined) =>
    !row || (row.hostId !== null && row.hostId !== hostId);
  const isHere = (row: (typeof rows)[number] | undefined) =>
    row?.hostId === hostId && (row.status === "creating" || row.status === "ready");
  return {
    elsewhere: sessionIds.filter((each) => isElsewhere(found.get(each))),
    ended: sessionIds.filter((each) => !isElsewhere(found.get(each)) && !isHere(found.get(each))),
  };
}

/** Deletes hosts whose lease ended a day ago. */
export async function deleteOldHosts(db: Executor): Promise<void> {
  await db.delete(browserHosts).where(sql`${browserHosts.leaseUntil} < now() - interval '1 day'`);
}
