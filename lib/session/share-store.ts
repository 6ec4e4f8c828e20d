import { and, eq, gt, isNull, or } from "drizzle-orm";
import type { Executor } from "#db/client.ts";
import { sessions, shareTokens } from "#db/schema/index.ts";
import type { ShareRole } from "#db/schema/unions.ts";

/** The revocation counter of a session's own link; undefined for an unknown session. */
export async function readShareRevocation(db: Executor, sessionId: string): Promise<number | undefined> {
  const [row] = await db
    .select({ revocation: sessions.shareRevocation })
    .from(sessions)
    .where(eq(sessions.id, sessionId));
  return row?.revocation;
}

/** The role of a further share token that is neither revoked nor expired at `now`. */
export async function findShareToken(
  db: Executor,
  sessionId: string,
  tokenHash: string,
  now: Date,
): Promise<ShareRole | undefined> {
  const [row] = await db
    .select({ role: shareTokens.role })
    .from(shareTokens)
    .where(
      and(
        eq(shareTokens.tokenHash, tokenHash),
        eq(shareTokens.sessionId, sessionId),
        isNull(shareTokens.revokedAt),
        or(isNull(shareTokens.expiresAt), gt(shareTokens.expiresAt, now)),
      ),
    );
  return row?.role;
}
