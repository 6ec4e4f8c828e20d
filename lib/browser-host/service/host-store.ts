import { and, eq, inArray, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { browserHosts, browsers } from "#db/schema/index.ts";

export type HostRow = typeof browserHosts.$inferSelect;

/** How long a host may run scripts and input after its lease was renewed. */
export const LEASE_MS = 10_000;
const untilLeaseEnds = sql`now() + ${LEASE_MS} * interval '1 millisecond'`;

/** Stores a host with a new lease. */
export async function insertHost(
  db: Executor,
  host: Omit<HostRow, "leaseUntil" | "createdAt" | "load">,
): Promise<void> {
  await db.insert(browserHosts).values({ ...host, leaseUntil: untilLeaseEnds });
}

/** Renews the lease of a host. @returns whether the host is stored; if not, it was given up. */
export async function renewHost(db: Executor, id: string, load: number): Promise<boolean> {
  const rows = await db
    .update(browserHosts)
    .set({ leaseUntil: untilLeaseEnds, load })
    .where(eq(browserHosts.id, id))
    .returning({ id: browserHosts.id });
  return rows.length > 0;
}

/** Gives a host up. Its browsers count as lost from then on. */
export async function removeHost(db: Executor, id: string): Promise<void> {
  await db.delete(browserHosts).where(eq(browserHosts.id, id));
}

/** Lists the hosts whose lease has not been over for long, least loaded first. */
export const listHosts = (db: Executor, protocol: number): Promise<HostRow[]> =>
  db
    .select()
    .from(browserHosts)
    .where(
      and(eq(browserHosts.protocol, protocol), sql`${browserHosts.leaseUntil} > now() - interval '1 hour'`),
    )
    .orderBy(sql`${browserHosts.load}::float8 / greatest(${browserHosts.places}, 1)`, browserHosts.createdAt);

/** Reads one host. Undefined if it was given up. */
export async function readHost(db: Executor, id: string): Promise<HostRow | undefined> {
  const [row] = await db.select().from(browserHosts).where(eq(browserHosts.id, id));
  return row;
}

/** Returns those of these sessions whose browser is not recorded as starting or running at this host. */
export async function listUnrecorded(db: Executor, hostId: string, sessionIds: string[]): Promise<string[]> {
  if (sessionIds.length === 0) return [];
  const rows = await db
    .select({ sessionId: browsers.sessionId })
    .from(browsers)
    .where(
      and(
        inArray(browsers.sessionId, sessionIds),
        inArray(browsers.status, ["creating", "ready"]),
        eq(browsers.hostId, hostId),
      ),
    );
  const recorded = new Set(rows.map(({ sessionId }) => sessionId));
  return sessionIds.filter((each) => !recorded.has(each));
}

/** Deletes hosts whose lease ended a day ago. */
export async function deleteOldHosts(db: Executor): Promise<void> {
  await db.delete(browserHosts).where(sql`${browserHosts.leaseUntil} < now() - interval '1 day'`);
}
