import { sql } from "drizzle-orm";
import { check, customType, type PgColumn, timestamp } from "drizzle-orm/pg-core";

/** A column for a point in time (`timestamptz`), read and written as a JavaScript `Date`. */
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: "date", precision: 3 });

/** `created_at`, set by the database when the row is written. */
export const createdAt = () => instant("created_at").notNull().defaultNow();

/** A column for bytes, which are stored in the row itself. */
export const bytes = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });

/** A check that allows only the values of a union in a text column. */
export const oneOf = (name: string, column: PgColumn, values: readonly string[]) =>
  check(name, sql`${column} in (${sql.raw(values.map((value) => `'${value}'`).join(", "))})`);
