import { integer, jsonb, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { sessions } from "./sessions.ts";
import {
  type AssertionKind,
  type AssertionResult,
  type EvidenceKind,
  PLAN_AUTHORS,
  PLAN_MODES,
  type PlanAuthor,
  type PlanItemStatus,
  type PlanMode,
  REQUIREMENT_STATUSES,
  type RequirementStatus,
} from "./unions.ts";

/** An item of a plan. */
export type PlanItem = { id: string; text: string; status: PlanItemStatus };

/** A condition on a page. A check of the condition decides whether its requirement is met. */
export type Assertion = { url: string; selector: string; is: AssertionKind; value?: string | number };

/** The result of the newest check of an assertion. `message` says why it failed or was not checked. */
export type AssertionOutcome = {
  status: AssertionResult;
  at: string;
  variant: string;
  revision: number;
  message: string | null;
};

/** Evidence for a requirement. `sessionId` is the session that saved it: the root session or one of its sub-agents. */
export type RequirementEvidence = {
  id: string;
  sessionId: string;
  kind: EvidenceKind;
  title: string;
  url: string | null;
  mediaType: string;
};

/** The plan of a root session. Its mode also applies to the session's sub-agents. */
export const plans = pgTable(
  "plans",
  {
    sessionId: text("session_id")
      .primaryKey()
      .references(() => sessions.id, { onDelete: "cascade" }),
    mode: text("mode").$type<PlanMode>().notNull().default("off"),
    items: jsonb("items").$type<PlanItem[]>().notNull().default([]),
    /** Incremented by each change of the items; 0 for a plan that was never written. */
    revision: integer("revision").notNull().default(0),
    /** Author of the newest revision. */
    author: text("author").$type<PlanAuthor>().notNull().default("person"),
    /**
     * `agentRevision` and `personRevision` are the newest revisions by the agent and by a person; 0 if there is none.
     */
    agentRevision: integer("agent_revision").notNull().default(0),
    personRevision: integer("person_revision").notNull().default(0),
    /**
     * The highest number that was ever used in an item id (`p<number>`), because the id of a removed item is not
     * reused.
     */
    lastItem: integer("last_item").notNull().default(0),
    /**
     * `runId` and `callId` identify the agent's last call that changed the plan. If the call is executed again after a
     * crash, it does not make the change twice.
     */
    runId: text("run_id"),
    callId: text("call_id"),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    createdAt: createdAt(),
  },
  (table) => [oneOf("plans_mode", table.mode, PLAN_MODES), oneOf("plans_author", table.author, PLAN_AUTHORS)],
);

/** The requirements of a root session, shared with its sub-agents. A requirement is never deleted, only waived. */
export const requirements = pgTable(
  "requirements",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** Number of the requirement, from 1. The requirement's id is `r<number>`. */
    number: integer("number").notNull(),
    text: text("text").notNull(),
    status: text("status").$type<RequirementStatus>().notNull().default("open"),
    note: text("note"),
    evidence: jsonb("evidence").$type<RequirementEvidence[]>().notNull().default([]),
    assertion: jsonb("assertion").$type<Assertion>(),
    /** Result of the newest check of the assertion; null before the first check. */
    outcome: jsonb("outcome").$type<AssertionOutcome>(),
    author: text("author").$type<PlanAuthor>().notNull(),
    /**
     * `runId` and `callId` identify the tool call that added the requirement, `updateRunId` and `updateCallId` the
     * agent's last call that changed it. If such a call is executed again after a crash, it does not make its change
     * twice.
     */
    runId: text("run_id"),
    callId: text("call_id"),
    updateRunId: text("update_run_id"),
    updateCallId: text("update_call_id"),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.number] }),
    oneOf("requirements_status", table.status, REQUIREMENT_STATUSES),
    oneOf("requirements_author", table.author, PLAN_AUTHORS),
  ],
);
