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
  type INTERACTION_MODES,
  SHARE_ROLES,
  type ShareRole,
  type SkillSource,
  SOURCES,
  type Source,
  STARTUP_STATUSES,
  type StartupStatus,
} from "./unions.ts";

/** The unencrypted fields of an MCP server of a session. The server's headers are encrypted in `sealed_secrets`. */
export type McpServerRow = { url: string; type: "http" | "sse" };
export type ToolPolicyRow = {
  include: string[];
  exclude: string[];
  externalTurnExclude: string[];
  /** Tools whose calls need a person's approval. Absent for no tools. */
  approve?: string[];
};
export type CapabilitiesRow = { browser: boolean; sandbox: boolean };
/** A skill of a session. `version` is the skill's version at the creation of the session. */
export type SessionSkill = { name: string; version: string; source: SkillSource };

/** Whether turns that no person started ask people, and what happens if no one answers. */
export type InteractionRow = {
  mode: (typeof INTERACTION_MODES)[number];
  timeoutSeconds: number;
  onTimeout: "continue" | "fail";
};

/** What a session and its sub-agents may spend together. A field that is absent sets no limit. */
export type BudgetRow = { usd?: number; tokens?: number; minutes?: number };

/** A session: its fixed configuration, and the counters and references that every turn needs. */
export const sessions = pgTable(
  "sessions",
  {
    id: text("id").primaryKey(),
    ownerId: text("owner_id").notNull(),
    parentSessionId: text("parent_session_id").references((): AnyPgColumn => sessions.id, {
      onDelete: "cascade",
    }),
    title: text("title").notNull(),
    /** The beginning of the first task, for the search of the session list. Null for sub-agents. */
    task: text("task"),
    userId: text("user_id"),
    source: text("source").$type<Source>().notNull(),
    /** `json` and not `jsonb`, because the data of callers must keep the order of its keys. */
    metadata: json("metadata").$type<Record<string, unknown>>(),
    idempotencyKey: text("idempotency_key"),
    /**
     * SHA-256 of the creation body's canonical JSON. It shows whether an idempotency key is reused with another body.
     */
    bodyHash: text("body_hash").notNull(),
    targetUrl: text("target_url"),
    targetPageUrls: jsonb("target_page_urls").$type<string[]>().notNull(),
    outputSchema: json("output_schema").$type<Record<string, unknown>>(),
    tools: jsonb("tools").$type<ToolPolicyRow>().notNull(),
    /** Names of the tools that the tool policy allowed when the session was created (`lib/tools/tool-policy.ts`). */
    toolset: jsonb("toolset").$type<string[]>().notNull(),
    systemPrompt: text("system_prompt"),
    /** Null if the session was created before the service had skills. */
    skills: jsonb("skills").$type<SessionSkill[]>(),
    mcpServers: jsonb("mcp_servers").$type<Record<string, McpServerRow>>().notNull(),
    /**
     * The revisions of MCP in which the tool servers answered last, by their ids. Not part of the profile: it only saves
     * a request.
     */
    mcpRevisions: jsonb("mcp_revisions").$type<Record<string, string>>().notNull().default({}),
    capabilities: jsonb("capabilities").$type<CapabilitiesRow>().notNull(),
    subAgents: boolean("sub_agents").notNull(),
    maxLiveChildren: integer("max_live_children").notNull(),
    maxLiveBrowsers: integer("max_live_browsers").notNull(),
    /** Null for the default: turns that no person started ask no one. */
    interaction: jsonb("interaction").$type<InteractionRow>(),
    callbackUrl: text("callback_url"),
    callbackEvents: jsonb("callback_events").$type<CallbackEvent[]>(),
    startupStatus: text("startup_status").$type<StartupStatus>().notNull().default("uninitialized"),
    /** Incrementing it revokes the session's own share links, because their tokens are derived from it. */
    shareRevocation: integer("share_revocation").notNull().default(0),
    /**
     * Sequence number of the last event. A transaction that appends events increments the number as late as possible,
     * because the increment locks the session's row until the transaction ends.
     */
    eventSeq: bigint("event_seq", { mode: "number" }).notNull().default(0),
    /** Position of the last message of the transcript. */
    messageSeq: integer("message_seq").notNull().default(0),
    /**
     * Incremented by each accepted follow-up, so that a turn that is ending detects queued messages that it has not
     * seen.
     */
    queueSeq: integer("queue_seq").notNull().default(0),
    /**
     * The only run that may write to the session. It is set by compare-and-set, so that a session plays one run at a
     * time.
     */
    activeRunId: text("active_run_id"),
    /**
     * The budget of the session and all sub-agents below it; null for no limit. A sub-agent's row repeats the budget of
     * the root session.
     */
    budget: jsonb("budget").$type<BudgetRow>(),
    /**
     * What the session's own turns have spent: tokens of model calls, the price of these calls in dollars, and working
     * time.
     */
    spentTokens: bigint("spent_tokens", { mode: "number" }).notNull().default(0),
    spentUsd: doublePrecision("spent_usd").notNull().default(0),
    spentMs: bigint("spent_ms", { mode: "number" }).notNull().default(0),
    /** Number of the session's annotations, and their total size as JSON in bytes. */
    annotationCount: integer("annotation_count").notNull().default(0),
    annotationBytes: bigint("annotation_bytes", { mode: "number" }).notNull().default(0),
    /** Last measured size of the workspace, in bytes. */
    workspaceBytes: bigint("workspace_bytes", { mode: "number" }).notNull().default(0),
    createdAt: createdAt(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("sessions_owner_idempotency_key").on(table.ownerId, table.idempotencyKey),
    // The session list reads it backwards, and omits sub-agents. A `desc()` here would sort nulls last, which does not
    // match the `desc` of a query.
    index("sessions_owner_recent")
      .on(table.ownerId, table.createdAt, table.id)
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

/**
 * Secrets, encrypted with AES-256-GCM. The associated data of the encryption is the table, the row and the name of the
 * secret (`lib/secrets`).
 */
export const sealedSecrets = pgTable(
  "sealed_secrets",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** Name of the secret, such as `callback.secret` or `mcpServers.<id>.headers`. */
    name: text("name").notNull(),
    sealed: text("sealed").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.name] })],
);

/**
 * Share links that were created for a session. The tokens of a session's own links are derived from a key and have no
 * rows. Only the hash of a created link's secret is stored.
 */
export const shareTokens = pgTable(
  "share_tokens",
  {
    tokenHash: text("token_hash").primaryKey(),
    /** `lnk_…`: the public id of the link. */
    id: text("id").notNull().unique(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    role: text("role").$type<ShareRole>().notNull(),
    label: text("label"),
    expiresAt: instant("expires_at"),
    /** Origins whose pages may show the link in a frame; null for all origins of the deployment. */
    embedOrigins: jsonb("embed_origins").$type<string[]>(),
    revokedAt: instant("revoked_at"),
    createdAt: createdAt(),
  },
  (table) => [
    index("share_tokens_session").on(table.sessionId, table.createdAt, table.id),
    oneOf("share_tokens_role", table.role, SHARE_ROLES),
  ],
);
