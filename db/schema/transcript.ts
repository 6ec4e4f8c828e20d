import { sql } from "drizzle-orm";
import { check, index, integer, json, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { requests, runs } from "./runs.ts";
import { sessions } from "./sessions.ts";
import {
  CALL_REFUSALS,
  type CallRefusal,
  MESSAGE_ROLES,
  type MessageRole,
  TOOL_CALL_STATES,
  type ToolCallState,
} from "./unions.ts";

/** A part of a message, as the transcript shows it. */
export type MessagePart =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown }
  | { type: "data-deliverable"; data: unknown }
  | AttachmentPart
  | AnnotationPart;

/** An annotation that was sent to the agent with a message. `text` describes its elements and has its comments. */
export type AnnotationPart = {
  type: "annotation";
  annotationId: string;
  text: string;
  /** The evidence with a picture of the page at the annotation. Absent if there is none. */
  evidenceId?: string;
};

/** A file of the workspace that a caller attached to a message. */
export type AttachmentPart = {
  type: "attachment";
  path: string;
  mediaType: string;
  sizeBytes: number;
  /** The evidence with the picture as it was attached; null for a file that is no picture. */
  evidenceId: string | null;
};

/** The messages of the transcript and of the queue. */
export const messages = pgTable(
  "messages",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** Order within the transcript, from 1; null while the message waits in the queue. */
    seq: integer("seq"),
    /** Order of the message within its request, from 0. */
    index: integer("index").notNull().default(0),
    role: text("role").$type<MessageRole>().notNull(),
    parts: json("parts").$type<MessagePart[]>().notNull(),
    /** The request that contained the message, or the request whose turn produced the message. */
    requestId: text("request_id").references(() => requests.id, { onDelete: "cascade" }),
    runId: text("run_id").references(() => runs.id, { onDelete: "cascade" }),
    /** User id of the caller who sent the message; null if the caller named none, and for the role `assistant`. */
    author: text("author"),
    createdAt: createdAt(),
  },
  (table) => [
    unique("messages_seq").on(table.sessionId, table.seq),
    index("messages_request").on(table.requestId),
    // Deleting a run looks up its messages, because of the foreign key.
    index("messages_run").on(table.runId).where(sql`run_id is not null`),
    oneOf("messages_role", table.role, MESSAGE_ROLES),
  ],
);

/**
 * A tool call. The row of a call that must not be repeated is inserted when the call starts. The row of any other call
 * is inserted when the call has ended, together with its result.
 */
export const toolCalls = pgTable(
  "tool_calls",
  {
    runId: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    callId: text("call_id").notNull(),
    sessionId: text("session_id").notNull(),
    /** `res_…`: the id by which the tool `read_tool_result` reads the full result. */
    resultId: text("result_id").notNull().unique(),
    name: text("name").notNull(),
    input: json("input").$type<unknown>().notNull(),
    state: text("state").$type<ToolCallState>().notNull(),
    /** Why a `failed` call was not executed; null if it was executed. */
    refusal: text("refusal").$type<CallRefusal>(),
    /** The full result as text. The model gets a truncated version of a long result. */
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
