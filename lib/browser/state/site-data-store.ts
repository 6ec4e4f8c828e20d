import { and, eq, inArray, sql } from "drizzle-orm";
import type { Database, Transaction } from "#db/client.ts";
import { browsers, siteData } from "#db/schema/index.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { SITE_DATA_BYTES_MAX } from "./site-data.ts";

type SiteDataRow = typeof siteData.$inferSelect;

/** Reads all rows of a session. */
export const readSiteDataRows = (db: Database, sessionId: string): Promise<SiteDataRow[]> =>
  db.select().from(siteData).where(eq(siteData.sessionId, sessionId));

/**
 * Changes the rows of a session if the browser with this generation runs at this host.
 * @returns false if it does not; nothing is changed then. @throws Error if the rows would exceed the bound.
 */
export async function changeSiteDataRows(
  db: Database,
  browser: { sessionId: string; generation: number; hostId: string },
  change: { rows: SiteDataRow[]; removed: string[]; used: string[]; usedAt: Date },
): Promise<boolean> {
  const { sessionId } = browser;
  const isChanged = await db.transaction(async (tx) => {
    if (!(await lockBrowser(tx, browser))) return false;
    const named = (names: string[]) => and(eq(siteData.sessionId, sessionId), inArray(siteData.name, names));
    if (change.removed.length > 0) await tx.delete(siteData).where(named(change.removed));
    if (change.used.length > 0)
      await tx.update(siteData).set({ usedAt: change.usedAt }).where(named(change.used));
    for (const { sealed, sizeBytes, usedAt, ...row } of change.rows) {
      const fields = { sealed, sizeBytes, usedAt };
      await tx
        .insert(siteData)
        .values({ ...row, ...fields })
        .onConflictDoUpdate({ target: [siteData.sessionId, siteData.name], set: fields });
    }
    const [sum] = await tx
      .select({ bytes: sql<number>`coalesce(sum(${siteData.sizeBytes}), 0)::float8` })
      .from(siteData)
      .where(eq(siteData.sessionId, sessionId));
    if ((sum?.bytes ?? 0) > SITE_DATA_BYTES_MAX) throw new Error("the site data of the session is too large");
    await faultPoint("site-data-written");
    return true;
  });
  if (isChanged) await faultPoint("site-data-stored");
  return isChanged;
}

/** Locks the row of a browser, so that no other browser of the session starts before the transaction ends. */
async function lockBrowser(
  tx: Transaction,
  { sessionId, generation, hostId }: { sessionId: string; generation: number; hostId: string },
): Promise<boolean> {
  const rows = await tx
    .select({ sessionId: browsers.sessionId })
    .from(browsers)
    .where(
      and(
        eq(browsers.sessionId, sessionId),
        eq(browsers.starts, generation),
        eq(browsers.hostId, hostId),
        eq(browsers.status, "ready"),
      ),
    )
    .for("update");
  return rows.length > 0;
}
