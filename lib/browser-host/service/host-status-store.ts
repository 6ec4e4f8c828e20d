import { and, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { agents, browserHosts, browsers } from "#db/schema/index.ts";
import type { HostHome } from "#db/schema/unions.ts";

/** A browser host as the API shows it: where it runs, and how many sessions use its places. */
export type RunningHost = { home: HostHome; sessions: number; places: number };

const shown = { home: browserHosts.home, sessions: browserHosts.load, places: browserHosts.places };
const hasLease = (): SQL => sql`${browserHosts.leaseUntil} > now()`;

/** Lists the browser hosts that run now, the oldest first. */
export const listRunningHosts = (db: Executor): Promise<RunningHost[]> =>
  db.select(shown).from(browserHosts).where(hasLease()).orderBy(browserHosts.createdAt).limit(100);

/** Returns the host that runs the browser that a session uses, which may be that of its parent. Null if none does. */
export async function readHostOf(db: Executor, sessionId: string): Promise<RunningHost | null> {
  const used = sql`coalesce((select ${agents.browserSessionId} from ${agents}
    where ${agents.sessionId} = ${sessionId}), ${sessionId})`;
  const [host] = await db
    .select(shown)
    .from(browsers)
    .innerJoin(browserHosts, eq(browserHosts.id, browsers.hostId))
    .where(and(eq(browsers.sessionId, used), inArray(browsers.status, ["creating", "ready"]), hasLease()));
  return host ?? null;
}
