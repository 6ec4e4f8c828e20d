import { and, eq, inArray, isNull, type SQL, sql } from "drizzle-orm";
import type { Executor, Transaction } from "#db/client.ts";
import { agents, browserHosts, browsers, runs, sessions } from "#db/schema/index.ts";
import { OPEN_STATES } from "#lib/session/store/run-store.ts";
import { initialUrlOf } from "#lib/session/store/selected-url-store.ts";
import { type BrowserEvent, browserMachine } from "./browser-machine.ts";

export type BrowserRow = typeof browsers.$inferSelect;
type SessionFields = typeof sessions.$inferSelect;

/**
 * The fields of a session that its browser needs. `capabilities.browser` is true only if the session may have a browser
 * of its own. A sub-agent may have one only if `agents.browser` is `own`.
 */
export type BrowserSession = Pick<SessionFields, "source" | "capabilities"> & {
  /**
   * See {@link initialUrlOf}. The browser opens this page if no client has selected another page.
   */
  initialUrl: string | null;
};

/** The fields that a running browser changes. Only {@link moveBrowser} changes the status. */
export type BrowserFields = Partial<
  Pick<
    BrowserRow,
    | "lastNavigatedUrl"
    | "currentUrl"
    | "returnUrl"
    | "pageWant"
    | "lastError"
    | "restartNotice"
    | "lastUsedAt"
  >
>;

/**
 * Fields to write. `reachedFor` is given when the browser has reached any page. It is the number of the last retarget
 * (a client's request to show another page) that this browser has handled. If the row has no newer retarget, `pageWant`
 * becomes `reached`.
 */
export type BrowserPatch = BrowserFields & { reachedFor?: number };

/** Reads the row of a session's browser. Undefined if there is no row. */
export async function readBrowser(db: Executor, sessionId: string): Promise<BrowserRow | undefined> {
  const [row] = await db.select().from(browsers).where(eq(browsers.sessionId, sessionId));
  return row;
}

/** Reads the fields of a session that its browser needs. Undefined if there is no such session. */
export const readBrowserSession = async (
  db: Executor,
  sessionId: string,
): Promise<BrowserSession | undefined> => (await readOwnedBrowserSession(db, sessionId))?.session;

/** Reads also whose session it is. A browser host must not get that, see `BrowserRecords.readSession`. */
export async function readOwnedBrowserSession(
  db: Executor,
  sessionId: string,
): Promise<{ session: BrowserSession; owner: Pick<SessionFields, "ownerId" | "userId"> } | undefined> {
  const [row] = await db
    .select({
      ownerId: sessions.ownerId,
      userId: sessions.userId,
      source: sessions.source,
      capabilities: sessions.capabilities,
      targetUrl: sessions.targetUrl,
      targetPageUrls: sessions.targetPageUrls,
      agentBrowser: agents.browser,
    })
    .from(sessions)
    .leftJoin(agents, eq(agents.sessionId, sessions.id))
    .where(eq(sessions.id, sessionId));
  if (!row) return undefined;
  const { ownerId, userId, source, agentBrowser } = row;
  const browser = row.capabilities.browser && (agentBrowser === null || agentBrowser === "own");
  const capabilities = { ...row.capabilities, browser };
  return {
    session: { source, capabilities, initialUrl: initialUrlOf(row) },
    owner: { ownerId, userId },
  };
}

/** Whether a session has a browser of its own. Queries the database only for a sub-agent. */
export const hasOwnBrowser = async (
  db: Executor,
  session: Pick<SessionFields, "id" | "parentSessionId" | "capabilities">,
): Promise<boolean> =>
  session.parentSessionId === null
    ? session.capabilities.browser
    : ((await readBrowserSession(db, session.id))?.capabilities.browser ?? false);

/**
 * Whether a tool call can use a browser: its own session's browser, or the parent's browser that the session shares.
 */
export const hasBrowserForCall = async (
  db: Executor,
  { sessionId, browserSessionId }: { sessionId: string; browserSessionId: string },
): Promise<boolean> =>
  sessionId !== browserSessionId ||
  ((await readBrowserSession(db, sessionId))?.capabilities.browser ?? false);

/**
 * Returns the sessions among `sessionIds` whose browser is shared by a working sub-agent. The caller does not end these
 * browsers to make room for others. A sub-agent whose turn is parked (paused) does not count, because that could cause a
 * deadlock: it waits for its own sub-agent, whose browser may have to wait until the shared browser is ended.
 */
export async function listSharedInUse(db: Executor, sessionIds: readonly string[]): Promise<Set<string>> {
  if (sessionIds.length === 0) return new Set();
  const rows = await db
    .selectDistinct({ id: agents.browserSessionId })
    .from(agents)
    .innerJoin(runs, eq(runs.sessionId, agents.sessionId))
    .where(
      and(
        eq(agents.browser, "shared"),
        inArray(agents.browserSessionId, [...sessionIds]),
        inArray(runs.state, OPEN_STATES),
        isNull(runs.parkedAt),
      ),
    );
  return new Set(rows.flatMap(({ id }) => id ?? []));
}

/**
 * Locks the session of a browser, before a transaction changes the browser's row. The events of the browser change the
 * session as well, and without this they would lock it last, against the order of all locks (`architecture.md`, Locks).
 */
export async function lockSessionOfBrowser(tx: Transaction, sessionId: string): Promise<void> {
  await tx.select({ id: sessions.id }).from(sessions).where(eq(sessions.id, sessionId)).for("no key update");
}

/** Reads the browser's row, or creates it as `idle` with the session's first page. @throws if the session is gone. */
export async function openBrowserRow(
  tx: Transaction,
  sessionId: string,
  initialUrl: string | null,
): Promise<BrowserRow> {
  await tx
    .insert(browsers)
    .values({ sessionId, status: "idle", desiredUrl: initialUrl, pageWant: "selected" })
    .onConflictDoNothing();
  const row = await readBrowser(tx, sessionId);
  if (!row) throw new Error(`no browser row for session ${sessionId}`);
  return row;
}

/**
 * The value of `pageWant` when a browser starts. The new browser has reached no page: it opens the selected page, or
 * returns to the page that the previous browser showed last.
 */
const wantAtStart = sql`case ${browsers.pageWant} when 'reached' then 'returning'
  when 'refused' then 'selected' else ${browsers.pageWant} end`;

/** A change that a host makes. `change` is unique among the changes of all hosts. */
type HostChange = { hostId: string; change: string | null };

/**
 * Applies an event to a browser with a compare-and-set on the state and the host in `from`. The host that provisions a
 * browser is recorded in the row until the browser has ended.
 *
 * @param patch.staysInQueue whether a session that waits for a place keeps its position among all hosts.
 * @returns the updated row; undefined if state or host no longer match `from`.
 * @throws Error when the event is not allowed in that state.
 */
export async function moveBrowser(
  tx: Transaction,
  self: HostChange,
  from: Pick<BrowserRow, "sessionId" | "status" | "hostId">,
  event: BrowserEvent,
  { staysInQueue = false, ...patch }: BrowserFields & { staysInQueue?: boolean } = {},
): Promise<BrowserRow | undefined> {
  const status = browserMachine.next(from.status, event);
  const hostId = status === "creating" || status === "ready" ? self.hostId : null;
  const started =
    event === "provision"
      ? {
          pageWant: wantAtStart,
          starts: sql`${browsers.starts} + 1`,
        }
      : {};
  const [row] = await tx
    .update(browsers)
    .set({
      // A session that starts again may have waited at a host that was lost.
      waitingSince: staysInQueue || event === "provision" ? sql`${browsers.waitingSince}` : null,
      ...patch,
      ...started,
      status,
      hostId,
      lastChange: self.change,
      updatedAt: new Date(),
    })
    .where(
      and(
        eq(browsers.sessionId, from.sessionId),
        eq(browsers.status, from.status),
        sql`${browsers.hostId} is not distinct from ${from.hostId}`,
      ),
    )
    .returning();
  return row;
}

/**
 * Writes fields if the browser is `ready` and the host runs it. If the number of a retarget is given, writes only if
 * this retarget is the newest.
 *
 * @returns the updated row; undefined if nothing was written.
 */
export async function patchBrowser(
  tx: Transaction,
  self: HostChange,
  sessionId: string,
  patch: BrowserPatch,
  retargets?: number,
): Promise<BrowserRow | undefined> {
  const { reachedFor, ...fields } = patch;
  const isNewest = sql`${browsers.retargets} = ${reachedFor}`;
  const reached = sql`case when ${isNewest} then 'reached' else ${browsers.pageWant} end`;
  const [row] = await tx
    .update(browsers)
    .set({
      ...fields,
      ...(reachedFor === undefined ? {} : { pageWant: reached }),
      lastChange: self.change,
      updatedAt: new Date(),
    })
    .where(
      and(
        eq(browsers.sessionId, sessionId),
        eq(browsers.status, "ready"),
        eq(browsers.hostId, self.hostId),
        retargets === undefined ? undefined : eq(browsers.retargets, retargets),
      ),
    )
    .returning();
  return row;
}

/** Records the id of a change that changes no field. @returns false if the same change was recorded last. */
export async function noteChange(
  tx: Transaction,
  sessionId: string,
  change: string | null,
): Promise<boolean> {
  const before = await readBrowser(tx, sessionId);
  if (!before) return true;
  if (before.lastChange === change) return false;
  await tx.update(browsers).set({ lastChange: change }).where(eq(browsers.sessionId, sessionId));
  return true;
}

/**
 * Selects a page: adds it to the session's known target pages, clears the last error, and marks the page as not
 * reached. Source: specification, `POST …/browser`, rule 1.
 */
export async function selectPage(tx: Transaction, sessionId: string, url: string): Promise<BrowserRow> {
  const isListed = sql`${sessions.targetPageUrls} @> ${JSON.stringify([url])}::jsonb`;
  await tx
    .update(sessions)
    .set({
      targetPageUrls: sql`case when ${isListed} or ${sessions.targetUrl} is not distinct from ${url}
        then ${sessions.targetPageUrls} else ${sessions.targetPageUrls} || ${JSON.stringify([url])}::jsonb end`,
      updatedAt: new Date(),
    })
    .where(eq(sessions.id, sessionId));
  const [row] = await tx
    .insert(browsers)
    .values({ sessionId, status: "idle", desiredUrl: url, pageWant: "selected", retargets: 1 })
    .onConflictDoUpdate({
      target: browsers.sessionId,
      set: {
        desiredUrl: url,
        pageWant: "selected",
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
 * Writes why the page of a retarget was not opened, unless there is a newer retarget, or a host has written an outcome.
 *
 * @returns the updated row; undefined if nothing was written.
 */
export async function failPage(
  tx: Transaction,
  sessionId: string,
  retargets: number,
  lastError: string,
): Promise<BrowserRow | undefined> {
  const [row] = await tx
    .update(browsers)
    .set({ lastError, updatedAt: new Date() })
    .where(
      and(
        eq(browsers.sessionId, sessionId),
        eq(browsers.retargets, retargets),
        eq(browsers.pageWant, "selected"),
        isNull(browsers.lastError),
      ),
    )
    .returning();
  return row;
}

/** A browser that is recorded as starting or running, and its host. */
type RecordedBrowser = { sessionId: string; hostId: string | null };

/** Lists the browsers that are recorded as starting or running at a host that is lost. */
export function listLostBrowsers(db: Executor): Promise<RecordedBrowser[]> {
  return db
    .select({ sessionId: browsers.sessionId, hostId: browsers.hostId })
    .from(browsers)
    .where(and(inArray(browsers.status, ["creating", "ready"]), isHostLost()));
}

/** Lists the sessions whose browser is recorded as starting or running at this host. */
export async function listBrowsersOf(db: Executor, hostId: string): Promise<string[]> {
  const rows = await db
    .select({ sessionId: browsers.sessionId })
    .from(browsers)
    .where(and(inArray(browsers.status, ["creating", "ready"]), eq(browsers.hostId, hostId)));
  return rows.map(({ sessionId }) => sessionId);
}

/** A browser's row, and whether the row says that a host runs or starts the browser, but that host is lost. */
export type HostedBrowser = { row: BrowserRow; isLost: boolean };

/** Reads a session's browser with {@link HostedBrowser}. Undefined if there is no row. */
export async function readHostedBrowser(db: Executor, sessionId: string): Promise<HostedBrowser | undefined> {
  const isUp = inArray(browsers.status, ["creating", "ready"]);
  const [found] = await db
    .select({ row: browsers, isLost: sql<boolean>`${isUp} and ${isHostLost()}` })
    .from(browsers)
    .where(eq(browsers.sessionId, sessionId));
  return found;
}

/** How long after the end of its lease a host counts as lost. Until then, no other host may run its browsers. */
const LOST_AFTER_SECONDS = 15;
/**
 * The same for a host in the sandbox of one session. No other host can run there at the same time, and its browsers stay while
 * no serverless function is connected.
 */
const BOXED_LOST_AFTER_SECONDS = 16 * 60;

/**
 * SQL condition: the host of the row is gone, or its lease expired `LOST_AFTER_SECONDS` ago. For the same time after a
 * restart of the database server no lease counts as expired, because none could be renewed while the server was down.
 */
const isHostLost = (): SQL => sql`not exists (select 1 from ${browserHosts}
  where ${browserHosts.id} = ${browsers.hostId}
    and (${browserHosts.leaseUntil} > now() - interval '1 second'
        * (case ${browserHosts.home} when 'sandbox' then ${BOXED_LOST_AFTER_SECONDS} else ${LOST_AFTER_SECONDS} end)::int
      or now() < pg_postmaster_start_time() + ${LOST_AFTER_SECONDS} * interval '1 second'))`;
