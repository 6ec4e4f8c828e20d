import type { Database } from "#db/client.ts";
import { requeueLostRuns } from "../store/job-store.ts";
import type { Job } from "../store/jobs.ts";

/** Interval in milliseconds at which a process renews the jobs of the runs that it plays. */
export const PLAYED_EVERY_MS = 10_000;

/**
 * Age at which a job counts as lost on an engine that may lose its queue: four renewal intervals without a renewal. A
 * lost job is then found in less than a minute.
 */
export const LOST_AFTER_MS = 4 * PLAYED_EVERY_MS;

/**
 * Age at which a job counts as lost on an engine that stores its queue in a database. Such an engine rarely loses a
 * job.
 */
export const RARELY_LOST_AFTER_MS = 10 * 60_000;

/**
 * Inserts new jobs for the open runs that the engine has lost, so that no session hangs.
 * Source: `architecture.md`, Decisions taken, 2 and 5.
 *
 * @param now replaces the database's clock in tests.
 * @returns the new jobs, which are already in the outbox.
 */
export const resendLostRuns = (db: Database, lostAfterMs: number, now?: Date): Promise<Job[]> =>
  requeueLostRuns(db, lostAfterMs, now);
