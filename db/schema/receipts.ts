import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";

/**
 * Where the values of a ready deliverable are in what the session saw. The transaction that stores the deliverable
 * inserts the row, so that the receipts are made even if the process ends before.
 */
export const receipts = pgTable(
  "receipts",
  {
    runId: text("run_id")
      .primaryKey()
      .references(() => runs.id, { onDelete: "cascade" }),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** The receipts as JSON text, as they are sent; null until they are made. */
    list: text("list"),
    /** Incremented when the engine has lost the job that makes the receipts, for the id of the next job. */
    jobNumber: integer("job_number").notNull().default(1),
    /** When the last job was requested. */
    requestedAt: instant("requested_at").notNull().defaultNow(),
    madeAt: instant("made_at"),
  },
  (table) => [
    index("receipts_session").on(table.sessionId),
    index("receipts_open").on(table.requestedAt).where(sql`made_at is null`),
    check("receipts_made", sql`(${table.list} is null) = (${table.madeAt} is null)`),
  ],
);
