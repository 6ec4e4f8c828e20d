import { sql } from "drizzle-orm";
import { check, foreignKey, index, integer, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { bytes, createdAt, instant } from "./columns.ts";
import { sessions } from "./sessions.ts";

/** A landing page, served below `/p/` until it is unpublished. A published page is not deleted with its session. */
export const landingPages = pgTable(
  "landing_pages",
  {
    slug: text("slug").primaryKey(),
    ownerId: text("owner_id").notNull(),
    /** The session that last deployed the page; null after that session was deleted. */
    sessionId: text("session_id").references(() => sessions.id, { onDelete: "set null" }),
    /**
     * The workspace folder of the newest deploy. If the same session deploys this folder again and names no slug, the
     * deploy updates this page.
     */
    folder: text("folder").notNull(),
    /** Number of the served version; null while the page is unpublished. */
    version: integer("version"),
    /** Number of the newest version. */
    newestVersion: integer("newest_version").notNull(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
    createdAt: createdAt(),
  },
  (table) => [
    index("landing_pages_session").on(table.sessionId, table.folder),
    index("landing_pages_owner").on(table.ownerId, table.createdAt, table.slug),
    check("landing_pages_version", sql`${table.version} between 1 and ${table.newestVersion}`),
  ],
);

/** An immutable version of a landing page. */
export const landingPageVersions = pgTable(
  "landing_page_versions",
  {
    slug: text("slug").notNull(),
    number: integer("number").notNull(),
    /** SHA-256 of the paths and hashes of the version's files, so that equal content is not stored as a new version. */
    digest: text("digest").notNull(),
    fileCount: integer("file_count").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    note: text("note"),
    /** The session that deployed the version. The session may have been deleted since. */
    deployedBy: text("deployed_by").notNull(),
    /**
     * `runId` and `callId` identify the tool call that deployed the version. If the call is executed again after a
     * crash, it finds its version by them.
     */
    runId: text("run_id"),
    callId: text("call_id"),
    createdAt: createdAt(),
  },
  (table) => [
    primaryKey({ columns: [table.slug, table.number] }),
    foreignKey({ columns: [table.slug], foreignColumns: [landingPages.slug] }).onDelete("cascade"),
    unique("landing_page_versions_call").on(table.runId, table.callId),
  ],
);

/** The contents of files. Equal files of all versions and pages share one row. */
export const landingPageBlobs = pgTable("landing_page_blobs", {
  /** SHA-256 of the content, in hexadecimal. */
  hash: text("hash").primaryKey(),
  content: bytes("content").notNull(),
});

/** A file of a version of a landing page. */
export const landingPageFiles = pgTable(
  "landing_page_files",
  {
    slug: text("slug").notNull(),
    number: integer("number").notNull(),
    /** Path inside the page, such as `assets/app.js`. */
    path: text("path").notNull(),
    hash: text("hash")
      .notNull()
      .references(() => landingPageBlobs.hash),
    sizeBytes: integer("size_bytes").notNull(),
    mediaType: text("media_type").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.slug, table.number, table.path] }),
    foreignKey({
      name: "landing_page_files_version",
      columns: [table.slug, table.number],
      foreignColumns: [landingPageVersions.slug, landingPageVersions.number],
    }).onDelete("cascade"),
    index("landing_page_files_hash").on(table.hash),
  ],
);
