import type { Database } from "#db/client.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import { listUnsentJobs, markJobsSent, pruneSentJobs } from "./job-store.ts";
import type { Job } from "./jobs.ts";

/**
 * How an engine takes a job in the statement that stores it: the statement writes the engine's rows as well, so that the job
 * needs no send of its own. Only the embedded engine can, because its rows are in the service's database.
 */
export type JobIntake = {
  /** Plans the run that a job starts; undefined while the engine does not play, or has to look at more than this job. */
  plan: (job: Job) => PlannedJob | undefined;
};

/** A job's run, whose rows are still to be written. */
export type PlannedJob = {
  /** The event as the engine stores it, as JSON. */
  event: string;
  runId: string;
  functionId: string;
  executorId: string;
  /** Plays the run. To be called once the rows are committed. */
  play: () => void;
};

/** Hands jobs to the durable engine. */
export type JobSender = {
  /**
   * Sends jobs whose transaction has committed. It returns at once, so that the current response goes first; the sweep
   * repeats a send that failed.
   */
  sendSoon: (jobs: Job[]) => void;
  /** Plans a job that the caller stores with `storedJob`; undefined where it has to be sent. */
  plan: JobIntake["plan"];
  /** Plays a planned job whose statement has committed; sends it if it was not planned. It returns at once. */
  begin: (job: Job, planned: PlannedJob | undefined) => void;
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

/**
 * @param deps.send hands one job to the engine; its id makes a second send harmless.
 * @param deps.intake of an engine that takes jobs in the statement that stores them.
 */
export function createJobSender(deps: {
  db: Database;
  send: (job: Job) => Promise<void>;
  intake?: JobIntake | undefined;
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
  const sendSoon = (jobs: Job[]) => {
    for (const job of jobs)
      setImmediate(() =>
        sendOne(job).catch((error: unknown) =>
          deps.logger.warn({ err: error, job: job.id }, "a job was not sent; the sweep will send it"),
        ),
      );
  };
  const play = async (planned: PlannedJob) => {
    await faultPoint("job-sent");
    planned.play();
  };
  return {
    sendSoon,
    plan: (job) => deps.intake?.plan(job),
    begin(job, planned) {
      if (!planned) return sendSoon([job]);
      setImmediate(() =>
        play(planned).catch((error: unknown) =>
          deps.logger.warn(
            { err: error, job: job.id },
            "a planned job was not played; the engine will play it",
          ),
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
