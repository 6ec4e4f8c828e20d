import { index, integer, pgTable, text } from "drizzle-orm/pg-core";
import { bytes, instant } from "./columns.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";

/**
 * The recording of a session's browser: pictures of the page as the agent's calls left it. It is kept within a budget,
 * see `lib/browser/store/recording-store.ts`.
 */
export const recordedPictures = pgTable(
  "recorded_pictures",
  {
    id: text("id").primaryKey(),
    /** The session that owns the browser. */
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** Numbers the pictures of a recording, also those that were removed since. The first is 1. */
    position: integer("position").notNull(),
    /** The run whose call left the page like this. Null for the page before the first call of a turn. */
    runId: text("run_id").references(() => runs.id, { onDelete: "cascade" }),
    callId: text("call_id"),
    url: text("url").notNull(),
    /** Title of the page. */
    title: text("title").notNull(),
    /** A JPEG. */
    bytes: bytes("bytes").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    takenAt: instant("taken_at").notNull().defaultNow(),
  },
  (table) => [
    index("recorded_pictures_session").on(table.sessionId, table.position),
    index("recorded_pictures_run").on(table.runId),
    index("recorded_pictures_age").on(table.takenAt),
  ],
);
