import { foreignKey, integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytes, createdAt } from "./columns.ts";

/**
 * An immutable version of a skill. It is stored when a session is created with it, and stays when the session is
 * deleted. `sessions.skills` refers to it without a foreign key, because the column contains JSON.
 */
export const skillVersions = pgTable("skill_versions", {
  /** SHA-256 of the skill's files with their paths. */
  version: text("version").primaryKey(),
  name: text("name").notNull(),
  description: text("description").notNull(),
  fileCount: integer("file_count").notNull(),
  createdAt: createdAt(),
});

/** The files of a version, with their paths in the skill's folder. */
export const skillFiles = pgTable(
  "skill_files",
  {
    version: text("version").notNull(),
    path: text("path").notNull(),
    bytes: bytes("bytes").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.version, table.path] }),
    foreignKey({ columns: [table.version], foreignColumns: [skillVersions.version] }).onDelete("cascade"),
  ],
);
