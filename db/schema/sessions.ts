import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  json,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import {
  type CallbackEvent,
  SHARE_ROLES,
  type ShareRole,
  type SkillSource,
  SOURCES,
  type Source,
  STARTUP_STATUSES,
  type StartupStatus,
} from "./unions.ts";

/** The MCP servers of a session as stored in the open: their headers are sealed in `sealed_secrets`. */
export type McpServerRow = { url: string; type: "http" | "sse" };
export type ToolPolicyRow = { include: string[]; exclude: string[]; externalTurnExclude: string[] };
export type CapabilitiesRow = { browser: boolean; sandbox: boolean };
/** A skill of a session, in the version that it was created with. */
export type SessionSkill = { name: string; version: string; source: SkillSource };

/** What a session and its sub-agents may spend together; an absent limit is none. */
export type BudgetRow = { usd?: number; tokens?: number; minutes?: number };

/** A session: the fixed profile, and the few moving parts that every turn needs at hand. */
export const sessions = pgTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    ownerId: text("owner_id").notNull(),
    parentSessionId: text("parent_session_id").references((): AnyPgColumn => sessions.id, {
      onDelete: "cascade",
    }),
    title: text("title").notNull(),
    userId: text("user_id"),
    source: text("source").$type<Source>().notNull(),
    /** `json` for what callers send: its keys stay in their order. */
    metadata: json("metadata").$type<Record<string, unknown>>(),
    idempotencyKey: text("idempotency_key"),
    /** SHA-256 of the canonical JSON of the creation body: tells a replay from a reuse. */
    bodyHash: text("body_hash").notNull(),
    targetUrl: text("target_url"),
    targetPageUrls: jsonb("target_page_urls").$type<string[]>().notNull(),
    outputSchema: json("output_schema").$type<Record<string, unknown>>(),
    tools: jsonb("tools").$type<ToolPolicyRow>().notNull(),
    /** Names of the toolset composed at creation (policy filters 1 to 5). */
    toolset: jsonb("toolset").$type<string[]>().notNull(),
    systemPrompt: text("system_prompt"),
    /** The versions that it was created with; null in a session from before there were skills. */
    skills: jsonb("skills").$type<SessionSkill[]>(),
    mcpServers: jsonb("mcp_servers").$type<Record<string, McpServerRow>>().notNull(),
    capabilities: jsonb("capabilities").$type<CapabilitiesRow>().notNull(),
    subAgents: boolean("sub_agents").notNull(),
    maxLiveChildren: integer("max_live_children").notNull(),
    maxLiveBrowsers: integer("max_live_browsers").notNull(),
    callbackUrl: text("callback_url"),
    callbackEvents: jsonb("callback_events").$type<CallbackEvent[]>(),
    startupStatus: text("startup_status").$type<StartupStatus>().notNull().default("uninitialized"),
    /** Raising it revokes the session's own share link. */
    shareRevocation: integer("share_revocation").notNull().default(0),
    /** Last sequence number given to an event; taken last in each transaction that appends. */
    eventSeq: bigint("event_seq", { mode: "number" }).notNull().default(0),
    /** Last place given to a message of the transcript. */
    messageSeq: integer("message_seq").notNull().default(0),
    /** Raised with each message that is accepted, so that a turn that ends knows whether its view of the queue is the last. */
    queueSeq: integer("queue_seq").notNull().default(0),
    /** The one run that may write; compare-and-set, so one turn plays at a time. */
    activeRunId: text("active_run_id"),
    /** The budget of its tree: sub-agents have that of their root. Null for none. */
    budget: jsonb("budget").$type<BudgetRow>(),
    /** What the session's own turns have spent: tokens of model calls, their price, and time at work. */
    spentTokens: bigint("spent_tokens", { mode: "number" }).notNull().default(0),
    spentUsd: doublePrecision("spent_usd").notNull().default(0),
    spentMs: bigint("spent_ms", { mode: "number" }).notNull().default(0),
    /** How many annotations it has, and their size as JSON. */
    annotationCount: integer("annotation_count").notNull().default(0),
    annotationBytes: bigint("annotation_bytes", { mode: "number" }).notNull().default(0),
    /** Size of the workspace when a turn of the session ended last. */
    workspaceBytes: bigint("workspace_bytes", { mode: "number" }).notNull().default(0),
    createdAt: createdAt(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("sessions_owner_idempotency_key").on(table.ownerId, table.idempotencyKey),
    // In the order of the list, which leaves sub-agents out.
    index("sessions_owner_recent")
      .on(table.ownerId, table.createdAt.desc(), table.id.desc())
      .where(sql`parent_session_id is null`),
    index("sessions_parent").on(table.parentSessionId),
    oneOf("sessions_source", table.source, SOURCES),
    oneOf("sessions_startup_status", table.startupStatus, STARTUP_STATUSES),
    check(
      "sessions_caps",
      sql`${table.maxLiveChildren} >= 0 and ${table.maxLiveBrowsers} between 0 and ${table.maxLiveChildren}`,
    ),
    check("sessions_callback", sql`(${table.callbackUrl} is null) = (${table.callbackEvents} is null)`),
  ],
);

/** Secrets at rest: AES-256-GCM, with table, row and name as associated data (`lib/secrets`). */
export const sealedSecrets = pgTable(
  "sealed_secrets",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** `callback.secret` or `mcpServers.<id>.headers`. */
    name: text("name").notNull(),
    sealed: text("sealed").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.name] })],
);

/** Share links that were created besides the session's own derived one; only the hash of a link's secret is kept. */
export const shareTokens = pgTable(
  "share_tokens",
  {
    tokenHash: text("token_hash").primaryKey(),
    /** `lnk_…`: names the link without its secret. */
    id: text("id").notNull().unique(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    role: text("role").$type<ShareRole>().notNull(),
    label: text("label"),
    expiresAt: instant("expires_at"),
    revokedAt: instant("revoked_at"),
    createdAt: createdAt(),
  },
  (table) => [
    index("share_tokens_session").on(table.sessionId, table.createdAt.desc(), table.id),
    oneOf("share_tokens_role", table.role, SHARE_ROLES),
  ],
);
