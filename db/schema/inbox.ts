import { sql } from "drizzle-orm";
import { boolean, check, index, json, jsonb, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { ElicitationForm } from "./browsers.ts";
import { createdAt, instant, oneOf } from "./columns.ts";
import { sessions } from "./sessions.ts";
import {
  INBOX_KINDS,
  INBOX_SETTLERS,
  INBOX_STATES,
  type InboxKind,
  type InboxSettler,
  type InboxState,
  ITEM_EVENTS,
  type ItemEvent,
} from "./unions.ts";

/** A tool call that needs approval. */
export type ItemCall = { toolCallId: string; toolName: string; input: unknown };

/** An item of the inbox: something that waits, or has waited, for a person. Each item is settled once. */
export const inboxItems = pgTable(
  "inbox_items",
  {
    id: text("id").primaryKey(),
    /** The session that waits: the root session or one of its sub-agents. */
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /**
     * The root session, under which the item is listed. No foreign key: checking it would lock the root session after
     * its descendant, against the order of locks (`architecture.md`, Locks). The item is deleted with `sessionId`.
     */
    rootSessionId: text("root_session_id").notNull(),
    ownerId: text("owner_id").notNull(),
    /** The run that waits; for a plan, the run that wrote it, or null. */
    runId: text("run_id"),
    kind: text("kind").$type<InboxKind>().notNull(),
    /**
     * What the item is about: the id of a question, `<run>/<call>` for a call to approve or to hand the browser over, the
     * id of the run with a budget, or the session with a plan.
     */
    subjectId: text("subject_id").notNull(),
    title: text("title").notNull(),
    body: text("body").notNull(),
    options: jsonb("options").$type<string[]>(),
    form: json("form").$type<ElicitationForm>(),
    /** The call to approve, with its exact arguments; null for other kinds. */
    call: json("call").$type<ItemCall>(),
    /** Whether the approval also holds for later calls of the same tool in the session and its sub-agents. */
    forSession: boolean("for_session").notNull().default(false),
    /** The session whose browser is handed over; null for other kinds. No foreign key, as for `rootSessionId`. */
    browserSessionId: text("browser_session_id"),
    /** Why a person denied the call, or the note of the person to whom the browser was handed over. */
    reason: text("reason"),
    /**
     * The last event of the run that reported the item; null until the run is parked while the item is open. An item has
     * at most one event of each kind.
     */
    lastEvent: text("last_event").$type<ItemEvent>(),
    /** When the approved call began; it begins once. */
    begunAt: instant("begun_at"),
    /** Name of the sub-agent that waits; null for the root session. */
    agentName: text("agent_name"),
    state: text("state").$type<InboxState>().notNull().default("open"),
    /** Who settled the item; null while it is open, and if the service closed it. */
    settledBy: text("settled_by").$type<InboxSettler>(),
    settledAt: instant("settled_at"),
    /** When the item expires; null if it has no deadline. */
    expiresAt: instant("expires_at"),
    createdAt: createdAt(),
  },
  (table) => [
    // The lists read these backwards. A `desc()` here would sort nulls last, which does not match the `desc` of a query.
    index("inbox_items_owner").on(table.ownerId, table.createdAt, table.id),
    index("inbox_items_owner_open").on(table.ownerId, table.createdAt, table.id).where(sql`state = 'open'`),
    index("inbox_items_root").on(table.rootSessionId, table.createdAt, table.id),
    // Deleting a session looks up its items, because of the foreign key.
    index("inbox_items_session").on(table.sessionId),
    index("inbox_items_run_open").on(table.runId).where(sql`state = 'open'`),
    index("inbox_items_run_waiting").on(table.runId).where(sql`last_event = 'run.waiting'`),
    uniqueIndex("inbox_items_approval").on(table.subjectId).where(sql`kind = 'approval'`),
    index("inbox_items_handed_over")
      .on(table.browserSessionId)
      .where(sql`state = 'open' and kind = 'handover'`),
    index("inbox_items_granted").on(table.rootSessionId).where(sql`for_session`),
    uniqueIndex("inbox_items_open_subject").on(table.subjectId).where(sql`state = 'open'`),
    oneOf("inbox_items_kind", table.kind, INBOX_KINDS),
    oneOf("inbox_items_state", table.state, INBOX_STATES),
    oneOf("inbox_items_last_event", table.lastEvent, ITEM_EVENTS),
    oneOf("inbox_items_settled_by", table.settledBy, INBOX_SETTLERS),
    check("inbox_items_settled", sql`(${table.state} = 'open') = (${table.settledAt} is null)`),
  ],
);
