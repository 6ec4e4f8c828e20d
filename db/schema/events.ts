import { sql } from "drizzle-orm";
import { bigint, index, pgTable, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt } from "./columns.ts";
import { sessions } from "./sessions.ts";

/** The event log of a session, from which streams, sockets, callbacks and pages read. */
export const events = pgTable(
  "events",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    seq: bigint("seq", { mode: "number" }).notNull(),
    kind: text("kind").notNull(),
    requestId: text("request_id"),
    runId: text("run_id"),
    /** The event as JSON text, serialized once, so that replays are byte-identical. */
    body: text("body").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.seq] }),
    index("events_request").on(table.requestId, table.seq),
    uniqueIndex("events_one_end").on(table.runId).where(sql`kind = 'run.completed'`),
    uniqueIndex("events_one_start").on(table.runId).where(sql`kind = 'run.started'`),
  ],
);
