import { bigint, index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, instant } from "./columns.ts";

/** API keys: `ask_<id>_<secret>`; only a SHA-256 of the secret is stored. */
export const apiKeys = pgTable(
  "api_keys",
  {
    id: text("id").primaryKey(),
    ownerId: text("owner_id").notNull(),
    name: text("name").notNull(),
    secretHash: text("secret_hash").notNull(),
    scopes: jsonb("scopes").$type<string[]>().notNull(),
    createdAt: createdAt(),
    lastUsedAt: instant("last_used_at"),
    expiresAt: instant("expires_at"),
    /**
     * Time from creation to expiry that the key was created with, which its successor gets as well. A rotation changes
     * only `expiresAt`. Null for a key that never expires by itself.
     */
    lifetimeMs: bigint("lifetime_ms", { mode: "number" }),
    /** The newest key that a rotation of this key has created. */
    successorId: text("successor_id"),
    revokedAt: instant("revoked_at"),
  },
  (table) => [index("api_keys_owner").on(table.ownerId)],
);
