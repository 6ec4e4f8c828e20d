import { sql } from "drizzle-orm";
import { check, index, json, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, oneOf } from "./columns.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";
import { DELIVERABLE_STATUSES, type DeliverableStatus } from "./unions.ts";

/**
 * A violation of the caller's schema. `path` is a JSON pointer into the result that the schema describes. `rawPath`
 * points to the same value in the JSON that the model wrote; it is absent if that JSON does not contain the value.
 */
export type Violation = { path: string; message: string; rawPath?: string };

/** The typed result of a run in a session with an output schema. */
export const deliverables = pgTable(
  "deliverables",
  {
    runId: text("run_id")
      .primaryKey()
      .references(() => runs.id, { onDelete: "cascade" }),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    status: text("status").$type<DeliverableStatus>().notNull(),
    /** The type is `json`, which preserves the order in which the model wrote the keys. */
    value: json("value").$type<unknown>(),
    error: text("error"),
    rawText: text("raw_text"),
    violations: json("violations").$type<Violation[]>(),
    createdAt: createdAt(),
  },
  (table) => [
    index("deliverables_session").on(table.sessionId, table.createdAt),
    oneOf("deliverables_status", table.status, DELIVERABLE_STATUSES),
    check("deliverables_value", sql`(${table.status} = 'ready') = (${table.value} is not null)`),
    check("deliverables_error", sql`(${table.status} = 'failed') = (${table.error} is not null)`),
  ],
);
