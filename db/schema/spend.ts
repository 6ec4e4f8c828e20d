import { bigint, date, doublePrecision, pgTable, primaryKey, text } from "drizzle-orm/pg-core";

/**
 * What an owner's sessions, including those deleted since, have spent on a day (UTC). The service writes these rows
 * only if owners have a budget.
 */
export const ownerSpend = pgTable(
  "owner_spend",
  {
    ownerId: text("owner_id").notNull(),
    day: date("day").notNull(),
    tokens: bigint("tokens", { mode: "number" }).notNull(),
    usd: doublePrecision("usd").notNull(),
    ms: bigint("ms", { mode: "number" }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.ownerId, table.day] })],
);
