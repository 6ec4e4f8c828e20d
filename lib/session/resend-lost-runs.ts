import type { Database } from "#db/client.ts";
import type { Job } from "./jobs.ts";
import { requeueLostRuns } from "./lost-run-store.ts";

/** Many times the interval at which a player says that it has a run in hand. */
const LOST_AFTER_MS = 10 * 60_000;

/** How often whoever plays runs says so, in milliseconds. */
export const PLAYED_EVERY_MS = 60_000;

/**
 * Asks again for runs that nobody has had in hand for ten minutes: a real engine that lost its queue must not leave a
 * session hanging. Source: `architecture.md`, Decisions taken, 2 and 5.
 *
 * @returns the jobs, already in the outbox.
 */
export const resendLostRuns = (db: Database, now: Date): Promise<Job[]> =>
  requeueLostRuns(db, new Date(now.getTime() - LOST_AFTER_MS));
