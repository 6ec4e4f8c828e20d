import { doublePrecision, integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/**
 * Token buckets of the rate limits that several processes share. A bucket whose row is older than a minute counts as full.
 */
export const rateBuckets = pgTable("rate_buckets", {
  /** Name of the limit and of the caller that it limits, such as `poll/<key id>`. */
  name: text("name").primaryKey(),
  /**
   * Calls left in the bucket at the time `at`, without those that processes have leased. The bucket refills evenly after
   * `at`.
   */
  tokens: doublePrecision("tokens").notNull(),
  /** Number of calls that were granted to the last lease. */
  granted: integer("granted").notNull(),
  at: instant("at").notNull(),
});
