import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/**
 * The form of a schema with which a model is asked, for schemas whose first form a provider has refused. A row has no
 * part of the schema and belongs to no session (decision 141).
 */
export const schemaForms = pgTable(
  "schema_forms",
  {
    /** SHA-256 of the schema, of the profile and of the version of the projection, in base64. */
    digest: text("digest").notNull(),
    /** The model's id. */
    model: text("model").notNull(),
    /** `words` or `compact`. */
    form: text("form").$type<"words" | "compact">().notNull(),
    usedAt: instant("used_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.digest, table.model] }),
    index("schema_forms_used").on(table.usedAt),
  ],
);
