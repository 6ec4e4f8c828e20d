import { doublePrecision, integer, pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./columns.ts";

/** Token buckets of the rate limits that several processes share. A row that is older than a minute counts as full. */
export const rateBuckets = pgTable("rate_buckets", {
  /** Bucket and subject: `poll/<key id>`. */
  name: text("name").primaryKey(),
  /** Calls that no process has leased, at the time `at`; the bucket refills evenly from then on. */
  tokens: doublePrecision("tokens").notNull(),
  /** Calls that the last lease was granted. */
  granted: integer("granted").notNull(),
  at: instant("at").notNull(),
});
