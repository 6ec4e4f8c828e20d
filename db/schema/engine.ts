import { sql } from "drizzle-orm";
import {
  bigint,
  check,
  index,
  integer,
  json,
  pgSequence,
  pgTable,
  primaryKey,
  text,
  unique,
} from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";

/** States of a function run in the embedded engine. A run is open in the first two states; the others are final. */
export const ENGINE_RUN_STATES = ["running", "waiting", "completed", "failed", "cancelled"] as const;
export const ENGINE_STEP_KINDS = ["run", "sleep", "event", "invoke"] as const;
export const ENGINE_STEP_STATES = ["pending", "done", "failed"] as const;

export type EngineRunState = (typeof ENGINE_RUN_STATES)[number];
export type EngineStepKind = (typeof ENGINE_STEP_KINDS)[number];
export type EngineStepState = (typeof ENGINE_STEP_STATES)[number];

/** Numbers the steps in the order in which they finish. A replay returns the results of the steps in this order. */
export const engineStepOrder = pgSequence("engine_step_order");

/**
 * The processes that execute runs. After the lease of an executor has expired, other executors may claim the executor's
 * runs.
 */
export const engineExecutors = pgTable("engine_executors", {
  id: text("id").primaryKey(),
  leaseUntil: instant("lease_until").notNull(),
  /** The name of the process's database connections. Null if an earlier version of the service wrote the row. */
  process: text("process"),
});

/** Events as received. A second event with the same id is a duplicate. */
export const engineEvents = pgTable(
  "engine_events",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    /** The type is `json`, which preserves the order of keys. */
    body: json("body").$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("engine_events_age").on(table.createdAt)],
);

/** One run of a durable function. */
export const engineRuns = pgTable(
  "engine_runs",
  {
    id: text("id").primaryKey(),
    functionId: text("function_id").notNull(),
    eventId: text("event_id")
      .notNull()
      .references(() => engineEvents.id),
    /** Value of the function's `idempotency` expression. A function has at most one run per value. */
    idempotencyKey: text("idempotency_key"),
    state: text("state").$type<EngineRunState>().notNull().default("running"),
    /**
     * Incremented when another executor takes over the run and when the run is cancelled. Writes with an older epoch
     * are rejected.
     */
    epoch: integer("epoch").notNull().default(1),
    executorId: text("executor_id").notNull(),
    /** Number of consecutive failed attempts. */
    attempt: integer("attempt").notNull().default(0),
    /**
     * Number of times that an event or an ended run woke this run. The run changes to `waiting` only if the number is
     * the same as when its steps were read, so that no wake is lost.
     */
    wakes: integer("wakes").notNull().default(0),
    /** When a failed attempt is retried. */
    dueAt: instant("due_at"),
    /** When the run last changed to `waiting`. A retry is delayed from this time until `due_at`. */
    waitingSince: instant("waiting_since"),
    /** The run and the step that invoked this run; null if an event started it. */
    parentRunId: text("parent_run_id"),
    parentStepId: text("parent_step_id"),
    output: json("output").$type<unknown>(),
    error: json("error").$type<unknown>(),
    createdAt: createdAt(),
    endedAt: instant("ended_at"),
  },
  (table) => [
    unique("engine_runs_idempotency_key").on(table.functionId, table.idempotencyKey),
    index("engine_runs_open").on(table.functionId).where(sql`ended_at is null`),
    index("engine_runs_ended").on(table.endedAt).where(sql`ended_at is not null`),
    index("engine_runs_event").on(table.eventId),
    oneOf("engine_runs_state", table.state, ENGINE_RUN_STATES),
    check(
      "engine_runs_ended_at",
      sql`(${table.state} in ('running', 'waiting')) = (${table.endedAt} is null)`,
    ),
    check("engine_runs_parent", sql`(${table.parentRunId} is null) = (${table.parentStepId} is null)`),
  ],
);

/** A step of a run: its recorded result or, while it is pending, what it waits for. */
export const engineSteps = pgTable(
  "engine_steps",
  {
    runId: text("run_id")
      .notNull()
      .references(() => engineRuns.id, { onDelete: "cascade" }),
    /** The SDK's hash of the step's id. */
    stepId: text("step_id").notNull(),
    kind: text("kind").$type<EngineStepKind>().notNull(),
    state: text("state").$type<EngineStepState>().notNull(),
    name: text("name").notNull(),
    /** Position of the step in the order in which all steps of the engine finished; null while it is pending. */
    position: bigint("position", { mode: "number" }),
    attempt: integer("attempt").notNull().default(0),
    /**
     * End of a sleep, deadline of a wait, or time of the next attempt. The sleep, wait or delay began at `created_at`.
     */
    dueAt: instant("due_at"),
    eventName: text("event_name"),
    expression: text("expression"),
    output: json("output").$type<unknown>(),
    error: json("error").$type<unknown>(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.stepId] }),
    index("engine_steps_waits").on(table.eventName).where(sql`kind = 'event' and state = 'pending'`),
    oneOf("engine_steps_kind", table.kind, ENGINE_STEP_KINDS),
    oneOf("engine_steps_state", table.state, ENGINE_STEP_STATES),
    check("engine_steps_ended", sql`(${table.state} = 'pending') = (${table.position} is null)`),
    check("engine_steps_error", sql`(${table.state} = 'failed') = (${table.error} is not null)`),
    check("engine_steps_event", sql`(${table.kind} = 'event') = (${table.eventName} is not null)`),
  ],
);
