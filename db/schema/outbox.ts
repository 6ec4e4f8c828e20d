import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, instant } from "./columns.ts";

/** Jobs to hand to the durable engine, written in the transaction that needs them. */
export const outbox = pgTable(
  "outbox",
  {
    /** The event id the engine sees (`<run>:<generation>`): a second send is a duplicate to it. */
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    data: jsonb("data").$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
    sentAt: instant("sent_at"),
  },
  (table) => [index("outbox_unsent").on(table.createdAt).where(sql`sent_at is null`)],
);
