import { sql } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { rateBuckets } from "#db/schema/index.ts";
import { defineStatement, queryRows } from "#db/statement.ts";

/** The result of a lease: how many calls were granted, and how many remain in the bucket for all processes. */
export type RateLease = { granted: number; left: number };

const lease = defineStatement<"name" | "limit" | "slice">((value) => {
  const limit = sql`${value("limit")}::float8`;
  const slice = sql`${value("slice")}::int`;
  // Uses the clock of the database, because processes may have different clocks. If the database's clock was set back
  // to before the last lease, the bucket counts as not refilled since that lease.
  const elapsedMinutes = sql`greatest(0, extract(epoch from clock_timestamp() - bucket.at)) / 60`;
  const available = sql`least(${limit}, bucket.tokens + ${elapsedMinutes} * ${limit})`;
  const granted = sql`least(${slice}, floor(${available}))`;
  return sql`
    insert into ${rateBuckets} as bucket (name, tokens, granted, at)
    values (${value("name")}, ${limit} - ${slice}, ${slice}, clock_timestamp())
    on conflict (name) do update set
      tokens = ${available} - ${granted}, granted = ${granted}, at = clock_timestamp()
    returning granted, tokens as left`;
});

/**
 * Leases at most `slice` calls from a bucket. An empty bucket refills to `limit` within a minute.
 *
 * @param slice must not exceed `limit`.
 */
export async function leaseCalls(
  db: Database,
  name: string,
  limit: number,
  slice: number,
): Promise<RateLease> {
  const rows = await queryRows<{ granted: number; left: number }>(db, lease({ name, limit, slice }));
  return { granted: Number(rows[0]?.granted), left: Number(rows[0]?.left) };
}

/** Deletes the rows of buckets that are full again. A bucket without a row counts as full. */
export async function deleteFullBuckets(db: Database): Promise<void> {
  await db.delete(rateBuckets).where(sql`${rateBuckets.at} < clock_timestamp() - interval '2 minutes'`);
}
