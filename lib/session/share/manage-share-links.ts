import { randomBytes } from "node:crypto";
import type { Database } from "#db/client.ts";
import type { ShareRole } from "#db/schema/unions.ts";
import { newId } from "../new-id.ts";
import { lockCounters } from "../store/follow-up-store.ts";
import {
  countLiveShareLinks,
  findShareLink,
  insertShareLink,
  listShareLinkRows,
  revokeShareLinkRow,
  type ShareLinkRow,
} from "../store/share-store.ts";
import { hashToken } from "./share-link.ts";

/** A share link as lists show it, without its secret. Times are ISO 8601, UTC. */
type ListedShareLink = {
  id: string;
  role: ShareRole;
  label: string | null;
  /** Origins whose pages may show the link in a frame; null for all that the deployment allows. */
  embedOrigins: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
};

/** Maximum number of links of one session that are neither revoked nor expired. */
export const LIVE_LINKS_MAX = 100;

/**
 * Creates a link with a random secret of 192 bits. Only the hash of the secret is stored.
 *
 * @returns the secret, which is never shown again, and the link as lists show it; undefined if the session already has
 * {@link LIVE_LINKS_MAX} links that are neither revoked nor expired.
 */
export async function createShareLink(
  db: Database,
  link: {
    sessionId: string;
    role: ShareRole;
    label: string | null;
    embedOrigins: string[] | null;
    expiresAt: Date | null;
  },
  now = new Date(),
): Promise<{ token: string; record: ListedShareLink } | undefined> {
  const token = randomBytes(24).toString("base64url");
  const row = await db.transaction(async (tx) => {
    // The lock makes concurrent creations count one after the other.
    await lockCounters(tx, link.sessionId);
    if ((await countLiveShareLinks(tx, link.sessionId, now)) >= LIVE_LINKS_MAX) return undefined;
    return insertShareLink(tx, { ...link, id: newId("lnk"), tokenHash: hashToken(token), createdAt: now });
  });
  return row && { token, record: describeShareLink(row) };
}

/** Lists one page of a session's links, newest first; `nextCursor` is null on the last page. */
export async function listShareLinks(
  db: Database,
  sessionId: string,
  page: { cursor?: string; limit: number },
): Promise<{ data: ListedShareLink[]; nextCursor: string | null }> {
  const found = await listShareLinkRows(db, sessionId, { ...page, limit: page.limit + 1 });
  const shown = found.slice(0, page.limit);
  const nextCursor = found.length > page.limit ? (shown.at(-1)?.id ?? null) : null;
  return { data: shown.map(describeShareLink), nextCursor };
}

/** Revokes a link; revoking it again changes nothing. @returns the link; undefined if the session has no such link. */
export async function revokeShareLink(
  db: Database,
  sessionId: string,
  id: string,
  now = new Date(),
): Promise<ListedShareLink | undefined> {
  const row = (await revokeShareLinkRow(db, sessionId, id, now)) ?? (await findShareLink(db, sessionId, id));
  return row && describeShareLink(row);
}

const describeShareLink = (row: ShareLinkRow): ListedShareLink => ({
  id: row.id,
  role: row.role,
  label: row.label,
  embedOrigins: row.embedOrigins,
  createdAt: row.createdAt.toISOString(),
  expiresAt: row.expiresAt?.toISOString() ?? null,
  revokedAt: row.revokedAt?.toISOString() ?? null,
});
