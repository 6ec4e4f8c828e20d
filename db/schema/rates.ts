import { doublePrecision, integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/** Token buckets of the rate limits that several processes share. A row that is older than a minute counts as full. */
export const rateBuckets = pgTable("rate_buckets", {
  /** Bucket and subject: `poll/<key id>`. */
  name: text("name").primaryKey(),
  /** Calls in the bucket at the time `at` that no process has leased; the bucket refills evenly after that. */
  tokens: doublePrecision("tokens").notNull(),
  /** Number of calls that were granted to the last lease. */
  granted: integer("granted").notNull(),
  at: instant("at").notNull(),
});
