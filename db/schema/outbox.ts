import { sql } from "drizzle-orm";
import { index, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, instant } from "./columns.ts";

/** Jobs to send to the durable engine. A job is inserted in the same transaction as the rows that it is about. */
export const outbox = pgTable(
  "outbox",
  {
    /**
     * Id of the engine's event for the job, such as `<run>:<generation>`. The engine ignores a second event with the
     * same id.
     */
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    data: jsonb("data").$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
    sentAt: instant("sent_at"),
  },
  (table) => [index("outbox_unsent").on(table.createdAt).where(sql`sent_at is null`)],
);
