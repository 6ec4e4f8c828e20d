import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { runs } from "./runs.ts";
import { WAIT_ENDS, WAIT_KINDS, WAIT_UNTIL, type WaitEnd, type WaitKind, type WaitUntil } from "./unions.ts";

/**
 * A wait of a run for an event outside the run. Either a tool call waits, or the run itself waits between two steps.
 */
export const waits = pgTable(
  "waits",
  {
    runId: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    /** The tool call that waits; empty if the run itself waits. */
    callId: text("call_id").notNull(),
    sessionId: text("session_id").notNull(),
    kind: text("kind").$type<WaitKind>().notNull(),
    /**
     * Ids of the questions, sub-agents or test runs that the wait is for; empty for `control`. For `budget`, a sentence
     * that says which budget is exhausted.
     */
    subjects: jsonb("subjects").$type<string[]>().notNull(),
    /**
     * `any`: the wait is settled when one of its subjects is done. `all`: it is settled when all its subjects are done.
     */
    until: text("until").$type<WaitUntil>().notNull().default("any"),
    /** When the wait ends at the latest; null if it has no deadline. */
    deadlineAt: instant("deadline_at"),
    /** How the wait ended; null while it is open. */
    endedBy: text("ended_by").$type<WaitEnd>(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.callId] }),
    index("waits_deadline").on(table.deadlineAt).where(sql`ended_by is null`),
    index("waits_control").on(table.sessionId).where(sql`kind = 'control' and ended_by is null`),
    index("waits_agents").on(table.sessionId).where(sql`kind = 'agents' and ended_by is null`),
    index("waits_tests").on(table.sessionId).where(sql`kind = 'tests' and ended_by is null`),
    index("waits_budget").on(table.sessionId).where(sql`kind = 'budget' and ended_by is null`),
    oneOf("waits_kind", table.kind, WAIT_KINDS),
    oneOf("waits_until", table.until, WAIT_UNTIL),
    oneOf("waits_ended_by", table.endedBy, WAIT_ENDS),
  ],
);
