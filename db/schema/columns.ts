import { sql } from "drizzle-orm";
import { check, customType, type PgColumn, timestamp } from "drizzle-orm/pg-core";

/** Creates a column for a point in time (`timestamptz`), which is read and written as a JavaScript `Date`. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: "date", precision: 3 });

/** Creates the column `created_at`, which the database sets when the row is inserted. */
export const createdAt = () => instant("created_at").notNull().defaultNow();

/** Creates a column for bytes. They are stored in the row itself. */
export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/** Creates a check that allows only the values of a union in a text column. */
export const oneOf = (name: string, column: PgColumn, values: readonly string[]) =>
  check(name, sql`${column} in (${sql.raw(values.map((value) => `'${value}'`).join(", "))})`);
