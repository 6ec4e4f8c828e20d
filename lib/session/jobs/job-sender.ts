import type { Database } from "#db/client.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import { listUnsentJobs, markJobsSent, pruneSentJobs } from "./job-store.ts";
import type { Job } from "./jobs.ts";

/** Hands jobs to the durable engine. */
export type JobSender = {
  /**
   * Sends jobs whose transaction has committed, once the answer at hand is on its way; nobody has to wait for it, and
   * a failure is left to the sweep.
   */
  sendSoon: (jobs: Job[]) => void;
  /**
   * Sends the jobs that a crash or an unreachable engine left behind.
   *
   * @param options.ageMs how old a job must be; default 2 s, in which it is usually sent.
   * @param options.now a time that a test sets instead of the database's.
   * @returns how many were sent.
   */
  sweep: (options?: { ageMs?: number; now?: Date }) => Promise<number>;
};

const SWEEP_AGE_MS = 2_000;
const NOTE_AFTER_MS = 250;
const KEEP_SENT_MS = 24 * 3_600_000;

/** @param send hands one job to the engine; its id makes a second send harmless. */
export function createJobSender(deps: {
  db: Database;
  send: (job: Job) => Promise<void>;
  logger: Pick<Logger, "warn">;
}): JobSender {
  let sent: string[] = [];
  // Many are noted at once: what is sent again for want of the note, the engine knows by its id.
  const noteSent = async () => {
    const ids = sent;
    sent = [];
    await markJobsSent(deps.db, ids).catch((error: unknown) =>
      deps.logger.warn(
        { err: error, jobs: ids },
        "jobs were sent and not noted; the sweep will send them again",
      ),
    );
  };
  const sendOne = async (job: Job) => {
    await deps.send(job);
    await faultPoint("job-sent");
    if (sent.push(job.id) === 1) setTimeout(noteSent, NOTE_AFTER_MS);
  };
  return {
    sendSoon(jobs) {
      for (const job of jobs)
        setImmediate(() =>
          sendOne(job).catch((error: unknown) =>
            deps.logger.warn({ err: error, job: job.id }, "a job was not sent; the sweep will send it"),
          ),
        );
    },
    async sweep({ ageMs = SWEEP_AGE_MS, now } = {}) {
      const jobs = await listUnsentJobs(deps.db, { ageMs, limit: 100, now });
      for (const job of jobs) await sendOne(job);
      await pruneSentJobs(deps.db, KEEP_SENT_MS, now);
      return jobs.length;
    },
  };
}
