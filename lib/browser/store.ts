import { and, eq, inArray, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { CONNECTION_NAME } from "#db/connection-name.ts";
import { type BrowserStatus, browsers, sessions } from "#db/schema/index.ts";
import { type BrowserEvent, browserMachine } from "./browser-machine.ts";

export type BrowserRow = typeof browsers.$inferSelect;
type SessionFields = typeof sessions.$inferSelect;

/** What of a session its browser has to know. */
export type BrowserSession = Pick<SessionFields, "source" | "capabilities"> & {
  /** The page a session names at its creation, where no retarget has selected another. */
  initialUrl: string | null;
};

/** The moving fields of a row; its status moves by {@link moveBrowser} alone. */
export type BrowserPatch = Partial<
  Pick<BrowserRow, "lastNavigatedUrl" | "currentUrl" | "lastError" | "lastUsedAt">
>;

/** The browser's row, if it ever had one. */
export async function readBrowser(db: Executor, sessionId: string): Promise<BrowserRow | undefined> {
  const [row] = await db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
  return row;
}

/** What the session's profile says for its browser; undefined where there is no such session. */
export async function readBrowserSession(
  db: Executor,
  sessionId: string,
): Promise<BrowserSession | undefined> {
  const [row] = await db
    .select({
      source: sessions.source,
      capabilities: sessions.capabilities,
      targetUrl: sessions.targetUrl,
      targetPageUrls: sessions.targetPageUrls,
    })
    .from(sessions)
    .where(eq(sessions.id, sessionId));
  if (!row) return undefined;
  const { source, capabilities } = row;
  return { source, capabilities, initialUrl: row.targetUrl ?? row.targetPageUrls[0] ?? null };
}

/** The browser's row, made `idle` on the session's first page where there was none. @throws when the session is gone. */
export async function openBrowserRow(
  tx: Transaction,
  sessionId: string,
  initialUrl: string | null,
): Promise<BrowserRow> {
  await tx
    .insert(browsers)
    .values({ sessionId, status: "idle", desiredUrl: initialUrl })
    .onConflictDoNothing();
  const row = await readBrowser(tx, sessionId);
  if (!row) throw new Error(`no browser row for session ${sessionId}`);
  return row;
}

/**
 * Moves a browser on from `from`: a compare-and-set.
 *
 * @returns the row as it is now, or undefined where it was no longer in `from`.
 * @throws Error for an event that has no cell in `from`.
 */
export async function moveBrowser(
  tx: Transaction,
  sessionId: string,
  from: BrowserStatus,
  event: BrowserEvent,
  patch: BrowserPatch = {},
): Promise<BrowserRow | undefined> {
  const [row] = await tx
    .update(browsers)
    .set({ ...patch, status: browserMachine.next(from, event), updatedAt: new Date() })
    .where(and(eq(browsers.sessionId, sessionId), eq(browsers.status, from)))
    .returning();
  return row;
}

/** Writes fields of a `ready` browser; of the given retarget alone, where one is given. @returns the row, if it was written. */
export async function patchBrowser(
  tx: Transaction,
  sessionId: string,
  patch: BrowserPatch,
  retargets?: number,
): Promise<BrowserRow | undefined> {
  const [row] = await tx
    .update(browsers)
    .set({ ...patch, updatedAt: new Date() })
    .where(
      and(
        eq(browsers.sessionId, sessionId),
        eq(browsers.status, "ready"),
        retargets === undefined ? undefined : eq(browsers.retargets, retargets),
      ),
    )
    .returning();
  return row;
}

/**
 * Selects a page: it is added to the session's known target pages, and what was said about an earlier one is
 * forgotten. Source: specification, `POST …/browser`, rule 1.
 */
export async function selectPage(tx: Transaction, sessionId: string, url: string): Promise<BrowserRow> {
  const known = sql`${sessions.targetPageUrls} @> ${JSON.stringify([url])}::jsonb`;
  await tx
    .update(sessions)
    .set({
      targetPageUrls: sql`case when ${known} or ${sessions.targetUrl} is not distinct from ${url}
        then ${sessions.targetPageUrls} else ${sessions.targetPageUrls} || ${JSON.stringify([url])}::jsonb end`,
      updatedAt: new Date(),
    })
    .where(eq(sessions.id, sessionId));
  const [row] = await tx
    .insert(browsers)
    .values({ sessionId, status: "idle", desiredUrl: url, retargets: 1 })
    .onConflictDoUpdate({
      target: browsers.sessionId,
      set: {
        desiredUrl: url,
        lastError: null,
        retargets: sql`${browsers.retargets} + 1`,
        updatedAt: new Date(),
        lastUsedAt: new Date(),
      },
    })
    .returning();
  if (!row) throw new Error(`no browser row for session ${sessionId}`);
  return row;
}

/**
 * Sessions whose rows claim a browser that nobody has: asked when a service starts, and has none itself.
 * A row may be another process's while that one is connected and was so already when the row was written; each names
 * its connections by the time of its start.
 */
export async function listClaims(db: Executor): Promise<{ sessionId: string; status: BrowserStatus }[]> {
  const owners = sql`select 1 from pg_stat_activity other
    where other.datname = current_database() and other.application_name ~ ${`^${CONNECTION_NAME} \\d+ `}
      and other.application_name <> current_setting('application_name')
      and to_timestamp(split_part(other.application_name, ' ', 2)::float8 / 1000) <= ${browsers.updatedAt}`;
  return db
    .select({ sessionId: browsers.sessionId, status: browsers.status })
    .from(browsers)
    .where(and(inArray(browsers.status, ["creating", "ready"]), sql`not exists (${owners})`));
}
