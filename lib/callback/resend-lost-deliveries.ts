import type { Database } from "#db/client.ts";
import type { Job } from "#lib/session/jobs.ts";
import { requeueLostDeliveries } from "./lost-delivery-store.ts";

/** Longer than a first attempt waits for the one that goes before it, and than an attempt takes. */
const LOST_AFTER_MS = 15 * 60_000;

/**
 * Sends the jobs of open deliveries again that are a quarter of an hour overdue, because the engine lost or gave up their
 * jobs. If an old job is still alive, the rows fence the two: each attempt is recorded once, and receivers deduplicate.
 * Source: specification, Delivery semantics, rules 1 and 2.
 *
 * @param now a time that a test sets instead of the database's.
 * @returns the jobs, already in the outbox.
 */
export const resendLostDeliveries = (db: Database, now?: Date): Promise<Job[]> =>
  requeueLostDeliveries(db, LOST_AFTER_MS, now);
