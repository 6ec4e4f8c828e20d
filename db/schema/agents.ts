import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  text,
  unique,
} from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import type { UsageRow } from "./runs.ts";
import { sessions } from "./sessions.ts";
import { AGENT_BROWSERS, AGENT_OUTCOMES, type AgentBrowser, type AgentOutcome } from "./unions.ts";

/**
 * A JSON value in a wrapper, so that a stored JSON `null` differs from SQL null, which means that there is no value.
 */
type JsonBox = { value: unknown };

/** The sub-agents. A row contains the parent, the objective and the result of one sub-agent. */
export const agents = pgTable(
  "agents",
  {
    /** The sub-agent's own session. */
    sessionId: text("session_id").primaryKey(),
    parentSessionId: text("parent_session_id").notNull(),
    /** The session at the top of the tree, which has no parent. */
    rootSessionId: text("root_session_id").notNull(),
    /** Depth in the tree of sessions: 1 for a child of the root session. */
    depth: integer("depth").notNull(),
    /** Unique among all sub-agents below the root session. */
    name: text("name").notNull(),
    objective: text("objective").notNull(),
    browser: text("browser").$type<AgentBrowser>().notNull(),
    /** The session whose browser the sub-agent's tools use; null if the sub-agent has no browser. */
    browserSessionId: text("browser_session_id"),
    resultSchema: json("result_schema").$type<Record<string, unknown>>(),
    /**
     * `spawnRunId`, `spawnCallId` and `spawnIndex` identify the tool call that spawned the sub-agent, and the
     * sub-agent's index in the call. If the call is executed again after a crash, it finds its sub-agents by these
     * columns.
     */
    spawnRunId: text("spawn_run_id").notNull(),
    spawnCallId: text("spawn_call_id").notNull(),
    spawnIndex: integer("spawn_index").notNull(),
    /** The text of the last `report_progress` call since the sub-agent's last start; null if there was none. */
    progress: text("progress"),
    /** The result that the sub-agent has submitted since its last start; null if it has submitted none. */
    submission: json("submission").$type<JsonBox>(),
    /** Outcome of the sub-agent's last turn; null until that turn has ended. */
    outcome: text("outcome").$type<AgentOutcome>(),
    result: json("result").$type<JsonBox>(),
    error: text("error"),
    /** Whether `result` was submitted by the sub-agent. Otherwise `result` is the sub-agent's last text, or null. */
    isSubmitted: boolean("is_submitted").notNull().default(false),
    /** Usage of all ended runs of the sub-agent, including the usage of its own sub-agents. */
    usage: jsonb("usage").$type<UsageRow>(),
    /** The call (`<run>/<call>`) or turn in which the parent's model received the result; null before that. */
    reportedIn: text("reported_in"),
    settledAt: instant("settled_at"),
    createdAt: createdAt(),
  },
  (table) => [
    foreignKey({ columns: [table.sessionId], foreignColumns: [sessions.id] }).onDelete("cascade"),
    unique("agents_name").on(table.rootSessionId, table.name),
    unique("agents_spawned").on(table.spawnRunId, table.spawnCallId, table.spawnIndex),
    index("agents_parent").on(table.parentSessionId),
    index("agents_shared").on(table.browserSessionId).where(sql`browser = 'shared'`),
    oneOf("agents_browser", table.browser, AGENT_BROWSERS),
    oneOf("agents_outcome", table.outcome, AGENT_OUTCOMES),
    check("agents_settled", sql`(${table.outcome} is null) = (${table.settledAt} is null)`),
    check("agents_depth", sql`${table.depth} >= 1`),
    check("agents_browser_session", sql`(${table.browser} = 'none') = (${table.browserSessionId} is null)`),
  ],
);
