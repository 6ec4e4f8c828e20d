import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  bigserial,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { sessions } from "./sessions.ts";
import {
  FOLLOW_UP_MODES,
  type FollowUpMode,
  RUN_ORIGINS,
  RUN_STATES,
  type RunOrigin,
  type RunState,
} from "./unions.ts";

/**
 * Usage of a run: tokens by kind, as the provider counted them, the numbers of model calls and tool calls, and the
 * duration.
 */
export type UsageRow = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
  modelCalls: number;
  toolCalls: number;
  durationMs: number;
  /**
   * Usage of the sub-agents below the run's session. Only those runs of the sub-agents are included that ended after
   * the session's previous run.
   */
  delegated?: Omit<UsageRow, "delegated"> | undefined;
};

/**
 * A message that the session accepted: the first message or a follow-up. The status of a request is not stored, because
 * it is derived from the request's newest run.
 */
export const requests = pgTable(
  "requests",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** Order of arrival within the session, from 1. */
    position: integer("position").notNull(),
    mode: text("mode").$type<FollowUpMode>().notNull(),
    origin: text("origin").$type<RunOrigin>().notNull(),
    userId: text("user_id"),
    idempotencyKey: text("idempotency_key"),
    bodyHash: text("body_hash").notNull(),
    /**
     * The run that the message joined when it was accepted with the mode `steer`. If that run ends before it reads the
     * message, the message gets its own run.
     */
    joinedRunId: text("joined_run_id").references((): AnyPgColumn => runs.id, { onDelete: "cascade" }),
    /**
     * Number of the session's last event when the message joined a run. The message's event stream starts after that
     * event.
     */
    joinedAfterSeq: bigint("joined_after_seq", { mode: "number" }),
    createdAt: createdAt(),
  },
  (table) => [
    unique("requests_position").on(table.sessionId, table.position),
    uniqueIndex("requests_idempotency_key").on(table.sessionId, table.idempotencyKey),
    unique("requests_in_session").on(table.id, table.sessionId),
    index("requests_joined").on(table.joinedRunId).where(sql`joined_run_id is not null`),
    check("requests_joined_both", sql`(${table.joinedRunId} is null) = (${table.joinedAfterSeq} is null)`),
    oneOf("requests_mode", table.mode, FOLLOW_UP_MODES),
    oneOf("requests_origin", table.origin, RUN_ORIGINS),
  ],
);

/** One attempt to play the turn of a request: the model calls and tool calls that answer the message. */
export const runs = pgTable(
  "runs",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id").notNull(),
    requestId: text("request_id").notNull(),
    /** 1 for the first run of a request. Each automatic retry has the next number. */
    attempt: integer("attempt").notNull(),
    origin: text("origin").$type<RunOrigin>().notNull(),
    state: text("state").$type<RunState>().notNull().default("pending"),
    /** Incremented each time that a function run of the engine claims the run. Steps of an older epoch cannot write. */
    epoch: integer("epoch").notNull().default(0),
    /** Id of the engine's function run that last claimed this run. */
    player: text("player"),
    /**
     * Incremented for each further job of the run. The job's id contains the number, so that the engine does not reject
     * the job as a duplicate.
     */
    generation: integer("generation").notNull().default(1),
    error: text("error"),
    /**
     * For a succeeded run that used the browser: why the last requested page had not been reached at the end of the
     * run. Null if the page was reached.
     */
    pageError: text("page_error"),
    willRetry: boolean("will_retry").notNull().default(false),
    /** Whether the context of the turn is being compacted. */
    isCompacting: boolean("is_compacting").notNull().default(false),
    /** When the run was parked; null while it is not parked. A parked run has an open wait, and no process plays it. */
    parkedAt: instant("parked_at"),
    /** Earliest start of a delayed retry. */
    notBefore: instant("not_before"),
    cancelRequestedAt: instant("cancel_requested_at"),
    usage: jsonb("usage").$type<UsageRow>(),
    createdAt: createdAt(),
    startedAt: instant("started_at"),
    endedAt: instant("ended_at"),
  },
  (table) => [
    foreignKey({
      columns: [table.requestId, table.sessionId],
      foreignColumns: [requests.id, requests.sessionId],
    }).onDelete("cascade"),
    unique("runs_attempt").on(table.requestId, table.attempt),
    uniqueIndex("runs_one_running").on(table.sessionId).where(sql`state = 'running'`),
    index("runs_open").on(table.state).where(sql`state in ('pending', 'running')`),
    index("runs_session").on(table.sessionId, table.createdAt),
    oneOf("runs_state", table.state, RUN_STATES),
    oneOf("runs_origin", table.origin, RUN_ORIGINS),
    check("runs_ended", sql`(${table.state} in ('pending', 'running')) = (${table.endedAt} is null)`),
    check("runs_parked", sql`${table.parkedAt} is null or ${table.state} = 'running'`),
    check("runs_error", sql`(${table.state} = 'errored') = (${table.error} is not null)`),
  ],
);

/**
 * A durable step of a run. The transaction that stores the step's effect also inserts this row. If the step is executed
 * again after a crash, it finds the row and does nothing.
 */
export const steps = pgTable(
  "steps",
  {
    runId: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    sessionId: text("session_id").notNull(),
    /** Order in which the steps of a session were recorded, across its runs. The numbers have gaps. */
    position: bigserial("position", { mode: "number" }).notNull(),
    /** The value that the step returns: a small JSON value. */
    output: json("output").$type<unknown>().notNull(),
    /**
     * Messages that the step adds to the model's context (AI SDK `ModelMessage[]`); null if it adds none. The context
     * of a session consists of the messages of all its steps, in the order of `position`.
     */
    modelMessages: json("model_messages").$type<unknown[]>(),
    /** For a compaction: the messages of this step replace the messages of all steps up to this position. */
    replacesThrough: bigint("replaces_through", { mode: "number" }),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.name] }),
    index("steps_history").on(table.sessionId, table.position).where(sql`model_messages is not null`),
    index("steps_compactions")
      .on(table.sessionId, table.replacesThrough)
      .where(sql`replaces_through is not null`),
  ],
);
