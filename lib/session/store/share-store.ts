import { and, count, desc, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Database, Executor } from "#db/client.ts";
import { agents, sessions, shareTokens } from "#db/schema/index.ts";

export type ShareLinkRow = typeof shareTokens.$inferSelect;

const isLive = (now: Date): SQL | undefined =>
  and(isNull(shareTokens.revokedAt), or(isNull(shareTokens.expiresAt), gt(shareTokens.expiresAt, now)));

/**
 * Reads a session's revocation counter and the session's link with this token hash. The link is null if it does not
 * exist, or is revoked or expired. Returns undefined for an unknown session.
 */
export async function findShare(
  db: Executor,
  sessionId: string,
  tokenHash: string,
  now: Date,
): Promise<{ revocation: number; link: ShareLinkRow | null } | undefined> {
  const [found] = await db
    .select({ revocation: sessions.shareRevocation, link: shareTokens })
    .from(sessions)
    .leftJoin(
      shareTokens,
      and(eq(shareTokens.sessionId, sessions.id), eq(shareTokens.tokenHash, tokenHash), isLive(now)),
    )
    .where(eq(sessions.id, sessionId));
  return found;
}

/** Inserts a share link. @returns the stored row. */
export async function insertShareLink(
  db: Executor,
  row: typeof shareTokens.$inferInsert,
): Promise<ShareLinkRow> {
  const [written] = await db.insert(shareTokens).values(row).returning();
  if (!written) throw new Error("the database returned no share link");
  return written;
}

/** Counts the links of a session that are neither revoked nor expired. */
export async function countLiveShareLinks(db: Executor, sessionId: string, now: Date): Promise<number> {
  const [row] = await db
    .select({ links: count() })
    .from(shareTokens)
    .where(and(eq(shareTokens.sessionId, sessionId), isLive(now)));
  return row?.links ?? 0;
}

/**
 * Lists the links of a session, newest first, including revoked and expired links.
 *
 * @param page.cursor id of the last link of the previous page; an unknown id gives an empty page.
 */
export function listShareLinkRows(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number },
): Promise<ShareLinkRow[]> {
  const start = alias(shareTokens, "start");
  const cursor = db
    .select({ createdAt: start.createdAt, id: start.id })
    .from(start)
    .where(and(eq(start.sessionId, sessionId), eq(start.id, page.cursor ?? "")));
  return db
    .select()
    .from(shareTokens)
    .where(
      and(
        eq(shareTokens.sessionId, sessionId),
        page.cursor === undefined
          ? undefined
          : sql`(${shareTokens.createdAt}, ${shareTokens.id}) < ${cursor}`,
      ),
    )
    .orderBy(desc(shareTokens.createdAt), desc(shareTokens.id))
    .limit(page.limit);
}

/** Finds a link of a session by id, including revoked and expired links. */
export async function findShareLink(
  db: Executor,
  sessionId: string,
  id: string,
): Promise<ShareLinkRow | undefined> {
  const [row] = await db.select().from(shareTokens).where(isLink(sessionId, id));
  return row;
}

/** Revokes a link that is not revoked yet. @returns the row; undefined if this call revoked no link. */
export async function revokeShareLinkRow(
  db: Executor,
  sessionId: string,
  id: string,
  now: Date,
): Promise<ShareLinkRow | undefined> {
  const [row] = await db
    .update(shareTokens)
    .set({ revokedAt: now })
    .where(and(isLink(sessionId, id), isNull(shareTokens.revokedAt)))
    .returning();
  return row;
}

/**
 * Revokes every link of a session. Also increments the revocation counters of the session and its sub-agents, which
 * makes all tokens invalid that were derived from the old counters.
 *
 * @returns the session's new counter, the number of revoked live links, and the ids of the sub-agents; undefined for an
 * unknown session.
 */
export function revokeAllShares(
  db: Database,
  sessionId: string,
  now: Date,
): Promise<{ revocation: number; links: number; agentIds: string[] } | undefined> {
  return db.transaction(async (tx) => {
    const [session] = await tx
      .update(sessions)
      .set({ shareRevocation: sql`${sessions.shareRevocation} + 1` })
      .where(eq(sessions.id, sessionId))
      .returning({ revocation: sessions.shareRevocation });
    if (!session) return undefined;
    const below = await tx
      .update(sessions)
      .set({ shareRevocation: sql`${sessions.shareRevocation} + 1` })
      .where(
        inArray(
          sessions.id,
          tx.select({ id: agents.sessionId }).from(agents).where(eq(agents.rootSessionId, sessionId)),
        ),
      )
      .returning({ id: sessions.id });
    const links = await countLiveShareLinks(tx, sessionId, now);
    await tx
      .update(shareTokens)
      .set({ revokedAt: now })
      .where(and(eq(shareTokens.sessionId, sessionId), isNull(shareTokens.revokedAt)));
    return { revocation: session.revocation, links, agentIds: below.map(({ id }) => id) };
  });
}

/**
 * Reads the revocation counter of each session, keyed by session id. `links` contains the expiry times of the session's
 * links that are neither revoked nor expired, keyed by link id.
 */
export async function readShareStates(
  db: Executor,
  sessionIds: string[],
  now: Date,
): Promise<Map<string, { revocation: number; links: Map<string, Date | null> }>> {
  const rows = await db
    .select({
      sessionId: sessions.id,
      revocation: sessions.shareRevocation,
      linkId: shareTokens.id,
      expiresAt: shareTokens.expiresAt,
    })
    .from(sessions)
    .leftJoin(shareTokens, and(eq(shareTokens.sessionId, sessions.id), isLive(now)))
    .where(inArray(sessions.id, sessionIds));
  const states = new Map<string, { revocation: number; links: Map<string, Date | null> }>();
  for (const { sessionId, revocation, linkId, expiresAt } of rows) {
    const state = states.get(sessionId) ?? { revocation, links: new Map<string, Date | null>() };
    if (linkId !== null) state.links.set(linkId, expiresAt);
    states.set(sessionId, state);
  }
  return states;
}

const isLink = (sessionId: string, id: string) =>
  and(eq(shareTokens.sessionId, sessionId), eq(shareTokens.id, id));
