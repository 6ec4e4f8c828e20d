import type { Database } from "#db/client.ts";
import { requeueLostRuns } from "./job-store.ts";
import type { Job } from "./jobs.ts";

/** How often a process that plays runs renews their jobs, in milliseconds. */
export const PLAYED_EVERY_MS = 10_000;

/**
 * When a job counts as lost on an engine that may lose its queue: four missed renewals. Together with the interval
 * between two looks it stays below a minute.
 */
export const LOST_AFTER_MS = 4 * PLAYED_EVERY_MS;

/** When a job counts as lost on an engine that keeps its queue in a database: a safeguard, not the usual way. */
export const RARELY_LOST_AFTER_MS = 10 * 60_000;

/**
 * Sends the jobs of open runs again that the engine has lost, so that no session hangs.
 * Source: `architecture.md`, Decisions taken, 2 and 5.
 *
 * @param now a time that a test sets instead of the database's.
 * @returns the jobs, already in the outbox.
 */
export const resendLostRuns = (db: Database, lostAfterMs: number, now?: Date): Promise<Job[]> =>
  requeueLostRuns(db, lostAfterMs, now);
