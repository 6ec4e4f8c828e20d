import { sql } from "drizzle-orm";
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  text,
  unique,
} from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { sessions } from "./sessions.ts";
import { CHECK_STATUSES, type CheckStatus, VARIANT_AUTHORS, type VariantAuthor } from "./unions.ts";

/**
 * A published variant, served until it is unpublished. The row is deleted with its session only if the variant is
 * unpublished.
 */
export const publications = pgTable(
  "publications",
  {
    id: text("id").primaryKey(),
    ownerId: text("owner_id").notNull(),
    /** The session of the variant; null after that session was deleted. */
    sessionId: text("session_id").references(() => sessions.id, { onDelete: "set null" }),
    variant: text("variant").notNull(),
    /**
     * Number of the current release. Its script also has a URL that contains no release number. Null while the
     * publication is unpublished.
     */
    release: integer("release"),
    /** Number of the newest release. */
    newestRelease: integer("newest_release").notNull(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    createdAt: createdAt(),
  },
  (table) => [
    unique("publications_variant").on(table.sessionId, table.variant),
    index("publications_owner").on(table.ownerId, table.createdAt, table.id),
    check("publications_release", sql`${table.release} between 1 and ${table.newestRelease}`),
  ],
);

/** An immutable release of a publication: a revision and the script that was compiled from it. */
export const releases = pgTable(
  "releases",
  {
    publicationId: text("publication_id").notNull(),
    number: integer("number").notNull(),
    id: text("id").notNull().unique("releases_id"),
    /** Number of the revision, which may have been pruned or deleted since. */
    revision: integer("revision").notNull(),
    document: json("document").$type<unknown>().notNull(),
    /** The script's text, as it is served. */
    script: text("script").notNull(),
    /** The script's hash for Subresource Integrity, such as `sha384-…`. */
    integrity: text("integrity").notNull(),
    /** Result of the revision's newest check at the time of publication; null if the revision had not been checked. */
    checkStatus: text("check_status").$type<CheckStatus>(),
    checkedAt: instant("checked_at"),
    /** Whether the release was published without a passed check. */
    isUnchecked: boolean("is_unchecked").notNull(),
    author: text("author").$type<VariantAuthor>().notNull(),
    /**
     * `runId` and `callId` identify the tool call that published the release. If the call is executed again after a
     * crash, it finds its release by them. Null for a release by a person.
     */
    runId: text("run_id"),
    callId: text("call_id"),
    /** When the publication was unpublished. The script is not served while this is set. */
    withdrawnAt: instant("withdrawn_at"),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.publicationId, table.number] }),
    foreignKey({ columns: [table.publicationId], foreignColumns: [publications.id] }).onDelete("cascade"),
    unique("releases_call").on(table.runId, table.callId),
    oneOf("releases_author", table.author, VARIANT_AUTHORS),
    oneOf("releases_check", table.checkStatus, CHECK_STATUSES),
  ],
);
