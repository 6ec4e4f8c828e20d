import { sql } from "drizzle-orm";
import { boolean, index, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/**
 * Removed sessions. The transaction that deletes a session also inserts its removal. Every process then deletes what it
 * stores for the session outside the database: the workspace, the evidence files and the browser. Old removals are
 * deleted, except pending and unverified removals.
 */
export const removals = pgTable(
  "removals",
  {
    sessionId: text("session_id").primaryKey(),
    removedAt: instant("removed_at").notNull().defaultNow(),
    /** Whether a process could not delete everything that it stores for the session and will try again. */
    isPending: boolean("is_pending").notNull().default(false),
    /** When a check found that no row and no file of the session is left; null before that check. */
    verifiedAt: instant("verified_at"),
  },
  (table) => [
    index("removals_age").on(table.removedAt),
    index("removals_pending").on(table.sessionId).where(sql`${table.isPending}`),
  ],
);
