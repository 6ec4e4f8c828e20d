import type { Database } from "#db/client.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { Logger } from "#lib/log/logger.ts";
import { listUnsentJobs, markJobsSent, pruneSentJobs } from "../store/job-store.ts";
import type { Job, PlannedJob } from "../store/jobs.ts";

/**
 * Lets the statement that stores a job also write the engine's rows for the job, so that the job need not be sent. Only
 * the embedded engine supports this, because its rows are in the service's database.
 */
export type JobIntake = {
  /** Plans the engine run that executes a job; undefined if the job must be sent instead. */
  plan: (job: Job) => PlannedJob | undefined;
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
   * Sends the jobs that were not sent because of a crash or an unreachable engine, in batches of 100, at most 2,000 in
   * one call. Stops after a batch with a failure.
   *
   * @param options.ageMs minimum age of a job; default 2 s, because younger jobs are usually still being sent.
   * @param options.now replaces the database's clock in tests.
   * @returns the number of sent jobs.
   */
  sweep: (options?: { ageMs?: number; now?: Date }) => Promise<number>;
  /** Deletes the jobs that were sent more than a day ago. */
  prune: () => Promise<void>;
};

const SWEEP_AGE_MS = 2_000;
const BATCH = 100;
const BATCHES_MAX = 20;
const MARK_AFTER_MS = 250;
const KEEP_SENT_MS = 24 * 3_600_000;

/**
 * Creates a {@link JobSender}.
 *
 * @param deps.send sends one job to the engine, which dedupes jobs by id.
 * @param deps.canSend whether the engine can be reached. While it cannot, no job is sent: the jobs stay in the outbox,
 * and no request to the engine waits in memory.
 * @param deps.intake only for an engine whose rows are written by the statement that stores the job.
 */
export function createJobSender(deps: {
  db: Database;
  send: (job: Job) => Promise<void>;
  canSend?: () => boolean;
  intake?: JobIntake | undefined;
  logger: Pick<Logger, "warn">;
}): JobSender {
  const { canSend = () => true } = deps;
  let sent: string[] = [];
  // Marks jobs as sent in batches. If the sweep sends a job again before it is marked, the engine dedupes the job.
  const markSent = async () => {
    const ids = sent;
    sent = [];
    try {
      if (ids.length > 0) await markJobsSent(deps.db, ids);
      return true;
    } catch (error) {
      deps.logger.warn(
        { err: error, jobs: ids },
        "marking jobs as sent failed; the sweep will send them again",
      );
      return false;
    }
  };
  const sendOne = async (job: Job) => {
    await deps.send(job);
    await faultPoint("job-sent");
    if (sent.push(job.id) === 1) setTimeout(markSent, MARK_AFTER_MS);
  };
  /** `hasMore`: the batch was full, and all of its jobs were sent and marked. */
  const sendBatch = async (options: Parameters<typeof listUnsentJobs>[1]) => {
    const jobs = await listUnsentJobs(deps.db, options);
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
    const isMarked = await markSent();
    const hasMore = isMarked && failures.length === 0 && jobs.length === options.limit;
    return { sentCount: jobs.length - failures.length, hasMore };
  };
  const sendSoon = (jobs: Job[]) => {
    if (!canSend()) return;
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
      let count = 0;
      for (let batch = 0; batch < BATCHES_MAX && canSend(); batch += 1) {
        const { sentCount, hasMore } = await sendBatch({ ageMs, limit: BATCH, now });
        count += sentCount;
        if (!hasMore) break;
      }
      return count;
    },
    async prune() {
      await pruneSentJobs(deps.db, KEEP_SENT_MS);
    },
  };
}
