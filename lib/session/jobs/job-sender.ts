import type { Database } from "#db/client.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import { listUnsentJobs, markJobsSent, pruneSentJobs } from "./job-store.ts";
import type { Job } from "./jobs.ts";

/**
 * Lets the statement that stores a job also write the engine's rows for the job, so that the job need not be sent. Only
 * the embedded engine supports this, because its rows are in the service's database.
 */
export type JobIntake = {
  /** Plans the engine run that executes a job; undefined if the job must be sent instead. */
  plan: (job: Job) => PlannedJob | undefined;
};

/** The engine run that will execute a job, before the rows of this run are written. */
export type PlannedJob = {
  /** The engine's event for the job, as JSON. */
  event: string;
  runId: string;
  functionId: string;
  executorId: string;
  /**
   * Plays the run. Call it after the transaction that writes the rows is committed, or before, if the job's function
   * waits for the commit itself.
   */
  play: () => void;
  /**
   * Tells the engine that the rows were written, or that they were not. Without this call, the engine looks for the
   * rows after ten seconds and plays the run if it is not being played.
   */
  settle: () => void;
};

/** Hands jobs to the durable engine. */
export type JobSender = {
  /**
   * Sends jobs. Call it after the transaction that stores the jobs is committed. It returns at once, so that the
   * current response is sent first. If sending a job fails, the sweep sends the job later.
   */
  sendSoon: (jobs: Job[]) => void;
  /** Plans a job that the caller stores with `storedJob`; undefined if the job must be sent instead. */
  plan: JobIntake["plan"];
  /**
   * Plays a planned job, or sends the job if it was not planned. Call it after the job is committed. It returns at
   * once.
   */
  begin: (job: Job, planned: PlannedJob | undefined) => void;
  /**
   * Plays a planned job whose function waits until the job is committed, so that the engine prepares the function while
   * the job is being stored. It returns at once. Call `planned.settle` after the statement.
   */
  beginEarly: (job: Job, planned: PlannedJob) => void;
  /**
   * Sends at most 100 jobs that were not sent because of a crash or an unreachable engine. Also deletes the jobs that
   * were sent more than a day ago.
   *
   * @param options.ageMs minimum age of a job; default 2 s, because younger jobs are usually still being sent.
   * @param options.now replaces the database's clock in tests.
   * @returns the number of sent jobs.
   */
  sweep: (options?: { ageMs?: number; now?: Date }) => Promise<number>;
};

const SWEEP_AGE_MS = 2_000;
const MARK_AFTER_MS = 250;
const KEEP_SENT_MS = 24 * 3_600_000;

/**
 * Creates a {@link JobSender}.
 *
 * @param deps.send sends one job to the engine, which dedupes jobs by id.
 * @param deps.intake only for an engine whose rows are written by the statement that stores the job.
 */
export function createJobSender(deps: {
  db: Database;
  send: (job: Job) => Promise<void>;
  intake?: JobIntake | undefined;
  logger: Pick<Logger, "warn">;
}): JobSender {
  let sent: string[] = [];
  // Marks jobs as sent in batches. If the sweep sends a job again before it is marked, the engine dedupes the job.
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
  const play = (job: Job, begin: () => Promise<void> | void) =>
    setImmediate(async () => {
      try {
        await begin();
      } catch (error) {
        deps.logger.warn(
          { err: error, job: job.id },
          "playing a planned job failed; the engine will play it",
        );
      }
    });
  return {
    sendSoon,
    plan: (job) => deps.intake?.plan(job),
    begin(job, planned) {
      if (!planned) return sendSoon([job]);
      play(job, async () => {
        await faultPoint("job-sent");
        planned.settle();
        planned.play();
      });
    },
    beginEarly: (job, planned) => void play(job, planned.play),
    async sweep({ ageMs = SWEEP_AGE_MS, now } = {}) {
      const jobs = await listUnsentJobs(deps.db, { ageMs, limit: 100, now });
      // A job that cannot be sent must not delay the others.
      const results = await Promise.allSettled(jobs.map(sendOne));
      const failures = results.flatMap((result, index) =>
        result.status === "rejected" ? [{ job: jobs[index]?.id, err: result.reason }] : [],
      );
      if (failures[0])
        deps.logger.warn(
          { err: failures[0].err, jobs: failures.map(({ job }) => job) },
          "sending jobs failed; the next sweep will send them",
        );
      await pruneSentJobs(deps.db, KEEP_SENT_MS, now);
      return jobs.length - failures.length;
    },
  };
}
