import { sql } from "drizzle-orm";
import { check, integer, json, jsonb, pgTable, text, unique } from "drizzle-orm/pg-core";
import { createdAt } from "./columns.ts";
import { sessions } from "./sessions.ts";

/** An immutable QA report of a session. A later report with the same title is its next version. */
export const reports = pgTable(
  "reports",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    title: text("title").notNull(),
    /** Version of the report among the session's reports with this title, from 1. */
    version: integer("version").notNull(),
    /**
     * Summary and findings, with the evidence that they name. The type is `json`, which preserves the order of keys.
     */
    document: json("document").$type<unknown>().notNull(),
    /** Number of findings of each severity. */
    counts: jsonb("counts").$type<unknown>().notNull(),
    /**
     * The session's variants when the report was published: their newest revisions and the checks of these revisions.
     */
    tested: jsonb("tested").$type<unknown>().notNull(),
    /**
     * `runId` and `callId` identify the tool call that published the report. If the call is executed again after a
     * crash, it finds its report by them.
     */
    runId: text("run_id"),
    callId: text("call_id"),
    createdAt: createdAt(),
  },
  (table) => [
    unique("reports_version").on(table.sessionId, table.title, table.version),
    unique("reports_call").on(table.runId, table.callId),
    check("reports_version_min", sql`${table.version} >= 1`),
  ],
);
