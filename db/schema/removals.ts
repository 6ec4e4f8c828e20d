import { index, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/**
 * Sessions that were removed lately, written in the transaction that took their rows: what lies outside the database
 * (a workspace, files of evidence, a browser) is cleared by every process that may have some of it, also after a crash.
 */
export const removals = pgTable(
  "removals",
  {
    sessionId: text("session_id").primaryKey(),
    removedAt: instant("removed_at").notNull().defaultNow(),
  },
  (table) => [index("removals_age").on(table.removedAt)],
);
