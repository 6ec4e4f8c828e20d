import { sql } from "drizzle-orm";
import { check, index, integer, pgTable, primaryKey, text, unique } from "drizzle-orm/pg-core";
import { createdAt, instant, oneOf } from "./columns.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";
import { CALLBACK_EVENTS, type CallbackEvent, DELIVERY_STATES, type DeliveryState } from "./unions.ts";

/** A callback to send. The transaction that stores the reported event also inserts the callback. */
export const deliveries = pgTable(
  "deliveries",
  {
    /** `whd-<uuid>`. Every attempt sends it in the header `X-Service-Delivery`. */
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    runId: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    event: text("event").$type<CallbackEvent>().notNull(),
    /** The item of the inbox that the event is about; null for the start and the end of a run. */
    itemId: text("item_id"),
    /** The exact bytes (UTF-8) that are signed and sent. */
    body: text("body").notNull(),
    state: text("state").$type<DeliveryState>().notNull().default("pending"),
    /** Number of finished attempts in the current cycle; a redelivery starts a new cycle. */
    attemptsFinished: integer("attempts_finished").notNull().default(0),
    cycle: integer("cycle").notNull().default(1),
    /**
     * Incremented when a lost job is sent again. The job's id contains the number, so that the engine does not reject
     * the job as a duplicate.
     */
    generation: integer("generation").notNull().default(1),
    /** While the delivery is held: the earliest time at which it may be sent as a probe. */
    nextAttemptAt: instant("next_attempt_at"),
    createdAt: createdAt(),
  },
  (table) => [
    unique("deliveries_run_event").on(table.runId, table.event, table.itemId).nullsNotDistinct(),
    index("deliveries_session").on(table.sessionId, table.createdAt),
    index("deliveries_open").on(table.state).where(sql`state in ('pending', 'sending')`),
    index("deliveries_held").on(table.createdAt, table.id).where(sql`state = 'held'`),
    oneOf("deliveries_event", table.event, CALLBACK_EVENTS),
    oneOf("deliveries_state", table.state, DELIVERY_STATES),
    check("deliveries_attempts", sql`${table.attemptsFinished} between 0 and 5`),
  ],
);

/** A finished attempt to send a callback. */
export const deliveryAttempts = pgTable(
  "delivery_attempts",
  {
    deliveryId: text("delivery_id")
      .notNull()
      .references(() => deliveries.id, { onDelete: "cascade" }),
    /** The delivery's cycle in which the attempt was made. */
    cycle: integer("cycle").notNull(),
    /** Number of the attempt in its cycle, from 1. */
    number: integer("number").notNull(),
    at: instant("at").notNull(),
    /** HTTP status; null if there was no response. */
    status: integer("status"),
    latencyMs: integer("latency_ms").notNull(),
    error: text("error"),
    /** The beginning of the response body as plain text; null if there was no response. */
    excerpt: text("excerpt"),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.cycle, table.number] })],
);

/**
 * Receivers that fail for an owner: a callback of the owner was dropped, because the receiver did not accept it. The
 * row is removed when the receiver accepts a callback of the owner.
 */
export const failingEndpoints = pgTable(
  "failing_endpoints",
  {
    ownerId: text("owner_id").notNull(),
    /** Host and port of the URL, in lower case. */
    host: text("host").notNull(),
    /** When the first callback was dropped. */
    failingSince: instant("failing_since").notNull(),
    /** Number of callbacks that were dropped, including the first. */
    dropped: integer("dropped").notNull(),
    /**
     * When callbacks were disabled. A later failure, of a probe or of a callback that is dropped, updates the time. Null
     * while callbacks are enabled.
     */
    disabledAt: instant("disabled_at"),
    /** The held callback that is sent as a probe; null if no probe is in progress. */
    probeId: text("probe_id"),
    /** When the last probe began. */
    probedAt: instant("probed_at"),
  },
  (table) => [primaryKey({ columns: [table.ownerId, table.host] })],
);
