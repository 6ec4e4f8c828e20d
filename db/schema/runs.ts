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
  CALL_REFUSALS,
  type CallRefusal,
  DELIVERABLE_STATUSES,
  type DeliverableStatus,
  FOLLOW_UP_MODES,
  type FollowUpMode,
  MESSAGE_ROLES,
  type MessageRole,
  RUN_ORIGINS,
  RUN_STATES,
  type RunOrigin,
  type RunState,
  TOOL_CALL_STATES,
  type ToolCallState,
} from "./unions.ts";

/** Tokens by kind, as the provider counted them. */
export type UsageRow = {
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  cachedInputTokens: number;
  modelCalls: number;
  toolCalls: number;
  durationMs: number;
  /** Of everything below the run's session that ended since the run before it, or with this one. */
  delegated?: Omit<UsageRow, "delegated"> | undefined;
};

/**
 * What breaks the caller's schema: the place in the result as a JSON pointer, in the schema's shape and, where it has one,
 * in the JSON that the model wrote.
 */
export type Violation = { path: string; message: string; rawPath?: string };

/** One accepted message (the first, or a follow-up). Its status is a projection of its newest run, never stored. */
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
    /** A steer: the run whose turn it joined when it was accepted; it gets a run of its own only if that one ends without it. */
    joinedRunId: text("joined_run_id").references((): AnyPgColumn => runs.id, { onDelete: "cascade" }),
    /** A steer: the session's event number when it was accepted, after which its stream begins. */
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

/** One attempt at a request's turn. */
export const runs = pgTable(
  "runs",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id").notNull(),
    requestId: text("request_id").notNull(),
    /** 1 for the first run of a request; each automatic retry is one more. */
    attempt: integer("attempt").notNull(),
    origin: text("origin").$type<RunOrigin>().notNull(),
    state: text("state").$type<RunState>().notNull().default("pending"),
    /** Raised by every claim: a step of an older epoch cannot write. */
    epoch: integer("epoch").notNull().default(0),
    /** The function run of the engine whose claim it was. */
    player: text("player"),
    /** Raised when the job is sent anew after a loss, so that the engine does not take it for a duplicate. */
    generation: integer("generation").notNull().default(1),
    error: text("error"),
    /**
     * For a run that succeeded and used the browser: why the page that the browser was last sent to was not reached, as of
     * the end of the run.
     */
    pageError: text("page_error"),
    willRetry: boolean("will_retry").notNull().default(false),
    /** While the turn's context is being compacted. */
    isCompacting: boolean("is_compacting").notNull().default(false),
    /** While the run waits for something outside of the service and nobody plays it: since when. */
    parkedAt: instant("parked_at"),
    /** For a retry that waits: when it may start. */
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

/** One part of a message as the transcript shows it. */
export type MessagePart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown }
  | { type: "data-deliverable"; data: unknown };

/** The transcript. */
export const messages = pgTable(
  "messages",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** Order within the session, from 1; null while it waits in the queue, outside the transcript. */
    seq: integer("seq"),
    /** Order within its request, from 0. */
    index: integer("index").notNull().default(0),
    role: text("role").$type<MessageRole>().notNull(),
    parts: json("parts").$type<MessagePart[]>().notNull(),
    /** The request that brought it, or whose turn made it. */
    requestId: text("request_id").references(() => requests.id, { onDelete: "cascade" }),
    runId: text("run_id").references(() => runs.id, { onDelete: "cascade" }),
    /** Who wrote it: a caller's user id, or null. */
    author: text("author"),
    createdAt: createdAt(),
  },
  (table) => [
    unique("messages_seq").on(table.sessionId, table.seq),
    index("messages_request").on(table.requestId),
    // Whoever removes a run has its messages looked up.
    index("messages_run").on(table.runId).where(sql`run_id is not null`),
    oneOf("messages_role", table.role, MESSAGE_ROLES),
  ],
);

/** One durable step of a run, written in the transaction of its effect; a step that finds its row does nothing. */
export const steps = pgTable(
  "steps",
  {
    runId: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    name: text("name").notNull(),
    sessionId: text("session_id").notNull(),
    /** Order in which steps were recorded, across the runs of a session. Its numbers have gaps. */
    position: bigserial("position", { mode: "number" }).notNull(),
    /** The small value the step hands back. */
    output: json("output").$type<unknown>().notNull(),
    /**
     * Messages the model is shown from now on (AI SDK `ModelMessage[]`), where the step made any. All of a session's in
     * the order of their steps are what the model has seen.
     */
    modelMessages: json("model_messages").$type<unknown[]>(),
    /** A compaction: its messages stand for those of every step up to this position. */
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

/** One call of a tool: its beginning is written only where it may not be repeated, its end with its result. */
export const toolCalls = pgTable(
  "tool_calls",
  {
    runId: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    callId: text("call_id").notNull(),
    sessionId: text("session_id").notNull(),
    /** `res_…`: the handle that `read_tool_result` takes. */
    resultId: text("result_id").notNull().unique(),
    name: text("name").notNull(),
    input: json("input").$type<unknown>().notNull(),
    state: text("state").$type<ToolCallState>().notNull(),
    /** Why a `failed` call was not run; null for one that was. */
    refusal: text("refusal").$type<CallRefusal>(),
    /** The whole result as text, however long; the model is shown a cut of it. */
    resultText: text("result_text"),
    startedAt: instant("started_at").notNull().defaultNow(),
    endedAt: instant("ended_at"),
  },
  (table) => [
    primaryKey({ columns: [table.runId, table.callId] }),
    index("tool_calls_session").on(table.sessionId, table.startedAt),
    oneOf("tool_calls_state", table.state, TOOL_CALL_STATES),
    oneOf("tool_calls_refusal", table.refusal, CALL_REFUSALS),
    check("tool_calls_ended", sql`(${table.state} = 'started') = (${table.endedAt} is null)`),
  ],
);

/** The typed result of a run of a structured session. */
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
    /** `json`, as its keys stay in the order in which the model gave them. */
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

/** The session's log: what stream, socket, callbacks and page are read from. */
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
    /** The event as JSON text, serialized once: replays are equal to the byte. */
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
