import { doublePrecision, integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/**
 * Token buckets of the rate limits that several processes share. A bucket is full at the latest one minute after `at`.
 */
export const rateBuckets = pgTable("rate_buckets", {
  /** Name of the limit and of the caller that it limits, such as `poll/<key id>`. */
  name: text("name").primaryKey(),
  /**
   * Number of calls that were left in the bucket at the time `at`. Calls that a process had already reserved for itself
   * (a lease) are not included. The bucket refills evenly after `at`.
   */
  tokens: doublePrecision("tokens").notNull(),
  /** Number of calls in the newest lease. */
  granted: integer("granted").notNull(),
  at: instant("at").notNull(),
});
