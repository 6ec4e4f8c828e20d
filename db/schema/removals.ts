import { sql } from "drizzle-orm";
import { boolean, index, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/**
 * Sessions that were removed, written in the transaction that deleted their rows. Every process clears what it has of
 * them outside the database (a workspace, files of evidence, a browser), also after a crash. Rows are pruned by age,
 * except those that are pending or not verified.
 */
export const removals = pgTable(
  "removals",
  {
    sessionId: text("session_id").primaryKey(),
    removedAt: instant("removed_at").notNull().defaultNow(),
    /** A process could not clear all of it and will try again. */
    isPending: boolean("is_pending").notNull().default(false),
    /** When a check found that no row and no file of it is left; null before. */
    verifiedAt: instant("verified_at"),
  },
  (table) => [
    index("removals_age").on(table.removedAt),
    index("removals_pending").on(table.sessionId).where(sql`${table.isPending}`),
  ],
);
