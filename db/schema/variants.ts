import { sql } from "drizzle-orm";
import {
  boolean,
  foreignKey,
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
  ACCEPTED_BY,
  type AcceptedBy,
  CHECK_STATUSES,
  type CheckStatus,
  VARIANT_AUTHORS,
  type VariantAuthor,
} from "./unions.ts";

/**
 * A variant of a session's pages. Its content is in its revisions. Sub-agents work on the variants of the root session.
 */
export const variants = pgTable(
  "variants",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    key: text("key").notNull(),
    /** Number of the newest revision. */
    revision: integer("revision").notNull(),
    /** The highest number that the id of a change has had in any revision, such as 12 of `c12`. */
    lastChange: integer("last_change").notNull().default(0),
    /** Whether the live browser shows the variant. At most one variant of a session is shown. */
    isShown: boolean("is_shown").notNull().default(false),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.key] }),
    uniqueIndex("variants_shown").on(table.sessionId).where(sql`is_shown`),
  ],
);

/** An immutable revision of a variant, with the result of its newest check. */
export const variantRevisions = pgTable(
  "variant_revisions",
  {
    sessionId: text("session_id").notNull(),
    key: text("key").notNull(),
    number: integer("number").notNull(),
    author: text("author").$type<VariantAuthor>().notNull(),
    /**
     * `runId` and `callId` identify the tool call that stored the revision. If the call is executed again after a
     * crash, it finds its revision by them. Null for a revision by a person.
     */
    runId: text("run_id"),
    callId: text("call_id"),
    /** The type is `json`, which preserves the order of keys. */
    document: json("document").$type<unknown>().notNull(),
    /** Result of the newest check; null if the revision has not been checked. */
    checkStatus: text("check_status").$type<CheckStatus>(),
    checkReport: jsonb("check_report").$type<unknown>(),
    checkedAt: instant("checked_at"),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.key, table.number] }),
    foreignKey({
      columns: [table.sessionId, table.key],
      foreignColumns: [variants.sessionId, variants.key],
    }).onDelete("cascade"),
    unique("variant_revisions_call").on(table.runId, table.callId),
    oneOf("variant_revisions_author", table.author, VARIANT_AUTHORS),
    oneOf("variant_revisions_check", table.checkStatus, CHECK_STATUSES),
  ],
);

/**
 * A change that a check could not examine, and that a person or the caller has accepted. It is kept as long as the
 * revision.
 */
export const checkAcceptances = pgTable(
  "check_acceptances",
  {
    sessionId: text("session_id").notNull(),
    key: text("key").notNull(),
    revision: integer("revision").notNull(),
    changeId: text("change_id").notNull(),
    /** SHA-256 of the change without its note. A change with other content is not accepted. */
    changeHash: text("change_hash").notNull(),
    /** Where the check could not examine the change, and why: `[{ url, viewport, reason }]`. */
    places: jsonb("places").$type<unknown>().notNull(),
    acceptedBy: text("accepted_by").$type<AcceptedBy>().notNull(),
    /** Names the credential, as the security log does: `key:<id>`, `share:<link id>` or `share:own`. */
    actor: text("actor").notNull(),
    acceptedAt: instant("accepted_at").notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.key, table.revision, table.changeId] }),
    foreignKey({
      name: "check_acceptances_revision",
      columns: [table.sessionId, table.key, table.revision],
      foreignColumns: [variantRevisions.sessionId, variantRevisions.key, variantRevisions.number],
    }).onDelete("cascade"),
    oneOf("check_acceptances_by", table.acceptedBy, ACCEPTED_BY),
  ],
);

/** A preview that is shown to people: a picture of a page, with or without a variant. */
export const previews = pgTable(
  "previews",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    position: integer("position").notNull(),
    title: text("title").notNull(),
    url: text("url").notNull(),
    width: integer("width").notNull(),
    height: integer("height").notNull(),
    /** Name of the viewport; null if the viewport was specified by its size. */
    viewport: text("viewport"),
    /** Key of the variant that the picture shows; null if it shows the page without a variant. */
    variant: text("variant"),
    scrollTo: text("scroll_to"),
    caption: text("caption"),
    /** Revision that the picture shows; null if there is no picture or it shows no variant. */
    revision: integer("revision"),
    evidenceId: text("evidence_id"),
    /** Why the preview has no picture; null if it has one. */
    error: text("error"),
    takenAt: instant("taken_at"),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.position] })],
);
