import type { Database } from "#db/client.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import { listUnsentJobs, markJobsSent, pruneSentJobs } from "./job-store.ts";
import type { Job } from "./jobs.ts";

/**
 * Lets an engine take a job in the statement that stores it: the statement also writes the engine's rows, so the job needs
 * no separate send. Only the embedded engine supports this, because its rows are in the service's database.
 */
export type JobIntake = {
  /** Plans the run that a job starts; undefined if the job must be sent instead. */
  plan: (job: Job) => PlannedJob | undefined;
};

/** A planned run of a job, before its rows are written. */
export type PlannedJob = {
  /** The event as the engine stores it, as JSON. */
  event: string;
  runId: string;
  functionId: string;
  executorId: string;
  /** Plays the run. Call it after the commit of the rows. */
  play: () => void;
};

/** Hands jobs to the durable engine. */
export type JobSender = {
  /**
   * Sends jobs after the commit of their transaction. It returns at once, so that the current response is sent first; the
   * sweep retries failed sends.
   */
  sendSoon: (jobs: Job[]) => void;
  /** Plans a job that the caller stores with `storedJob`; undefined if the job must be sent instead. */
  plan: JobIntake["plan"];
  /** Plays a planned job after the commit of its statement, or sends it if it was not planned. It returns at once. */
  begin: (job: Job, planned: PlannedJob | undefined) => void;
  /**
   * Sends jobs that were not sent because of a crash or an unreachable engine.
   *
   * @param options.ageMs minimum age of a job; default 2 s, because younger jobs are usually being sent.
   * @param options.now replaces the database's clock in tests.
   * @returns the number of sent jobs.
   */
  sweep: (options?: { ageMs?: number; now?: Date }) => Promise<number>;
};

const SWEEP_AGE_MS = 2_000;
const MARK_AFTER_MS = 250;
const KEEP_SENT_MS = 24 * 3_600_000;

/**
 * @param deps.send sends one job to the engine, which dedupes jobs by id.
 * @param deps.intake for an engine that takes jobs in the statement that stores them.
 */
export function createJobSender(deps: {
  db: Database;
  send: (job: Job) => Promise<void>;
  intake?: JobIntake | undefined;
  logger: Pick<Logger, "warn">;
}): JobSender {
  let sent: string[] = [];
  // Marks jobs as sent in batches. A job that is sent twice before it is marked is deduped by the engine.
  const markSent = async () => {
    const ids = sent;
    sent = [];
    await markJobsSent(deps.db, ids).catch((error: unknown) =>
      deps.logger.warn(
        { err: error, jobs: ids },
        "marking jobs as sent failed; the sweep will send them again",
      ),
    );
  };
  const sendOne = async (job: Job) => {
    await deps.send(job);
    await faultPoint("job-sent");
    if (sent.push(job.id) === 1) setTimeout(markSent, MARK_AFTER_MS);
  };
  const sendSoon = (jobs: Job[]) => {
    for (const job of jobs)
      setImmediate(() =>
        sendOne(job).catch((error: unknown) =>
          deps.logger.warn({ err: error, job: job.id }, "sending a job failed; the sweep will send it"),
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
            "playing a planned job failed; the engine will play it",
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
