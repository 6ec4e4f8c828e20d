import { createHash, timingSafeEqual } from "node:crypto";
import { and, eq, gt, isNull, or } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { apiKeys } from "#db/schema/index.ts";

/** Keys kept in the database. */
export type KeyStore = {
  /** The owner of a live key; undefined for any other. @throws when the database cannot be reached. */
  findOwner: (key: string) => Promise<string | undefined>;
};

const KEY = /^ask_([a-z0-9]{1,40})_([A-Za-z0-9_-]{20,200})$/;
const TOUCH_EVERY_MS = 60_000;

/** Keys of the form `ask_<id>_<secret>`, found by id and compared in constant time. Source: `security.md`, API keys. */
export function createKeyStore(db: Database): KeyStore {
  return {
    async findOwner(key) {
      const [, id = "", secret = ""] = KEY.exec(key) ?? [];
      const now = new Date();
      // Asked for a malformed key too: an unreachable store is told from a wrong key, whatever the key.
      const [row] = await db
        .select()
        .from(apiKeys)
        .where(
          and(
            eq(apiKeys.id, id),
            isNull(apiKeys.revokedAt),
            or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
          ),
        );
      if (!row || !isEqual(row.secretHash, createHash("sha256").update(secret).digest("hex")))
        return undefined;
      if (now.getTime() - (row.lastUsedAt?.getTime() ?? 0) > TOUCH_EVERY_MS)
        await db.update(apiKeys).set({ lastUsedAt: now }).where(eq(apiKeys.id, row.id));
      return row.ownerId;
    },
  };
}

const isEqual = (left: string, right: string) =>
  left.length === right.length && timingSafeEqual(Buffer.from(left), Buffer.from(right));
