import { type SQL, sql } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { queryRows } from "./statement.ts";

/**
 * Returns SQL for the current time of the database's clock; in a transaction, this is the time when the transaction
 * began. Stored times are compared with the database's clock, because the clocks of the processes may differ.
 *
 * @param now replaces the clock in tests.
 */
export const databaseTime = (now?: Date): SQL =>
  now === undefined ? sql`now()` : sql`${now.toISOString()}::timestamptz`;

/** Returns a duration in milliseconds as an SQL interval. */
export const milliseconds = (ms: number): SQL => sql`(${ms}::float8 * interval '1 millisecond')`;

/** Reads the database's clock, in milliseconds since 1970. */
export async function readDatabaseClock(db: Executor): Promise<number> {
  const rows = await queryRows<{ now_ms: number }>(
    db,
    sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
  );
  return Number(rows[0]?.now_ms);
}
