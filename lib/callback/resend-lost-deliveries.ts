import type { Database } from "#db/client.ts";
import type { Job } from "#lib/session/jobs.ts";
import { requeueLostDeliveries } from "./lost-delivery-store.ts";

/** Longer than a first attempt waits for the one that goes before it, and than an attempt takes. */
const LOST_AFTER_MS = 15 * 60_000;

/**
 * Asks again for open deliveries that are a quarter of an hour overdue: a job that the engine lost or gave up must not
 * leave a callback pending for ever. Should the old job be alive after all, the rows hold both to one course: each
 * attempt is recorded once, and receivers deduplicate. Source: specification, Delivery semantics, rules 1 and 2.
 *
 * @returns the jobs, already in the outbox.
 */
export const resendLostDeliveries = (db: Database, now: Date): Promise<Job[]> =>
  requeueLostDeliveries(db, new Date(now.getTime() - LOST_AFTER_MS), now);
