import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import { readDatabaseClock } from "#db/database-time.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import { createPace } from "#lib/session/jobs/pace.ts";
import { LOST_AFTER_MS, PLAYED_EVERY_MS } from "#lib/session/jobs/resend-lost-runs.ts";
import { recordRunsPlayed } from "#lib/session/store/job-store.ts";
import { listStopRequested } from "#lib/session/store/run-store.ts";
import { STOPPED_REASON, type StopRegistry } from "#lib/turn/run/stop-registry.ts";
import { repeat } from "./repeat.ts";

const TOPIC = "stop-run";

/**
 * Connects the runs that this process plays (executes) with other processes. Receives stop signals for these runs, and
 * renews the jobs of the runs so that no process considers the jobs lost. If a stop signal is missed, for example
 * because the sending process crashed after it had stored the request, the request is read from the database.
 *
 * @param deps.localStops the signals of the runs that this process plays.
 * @param deps.sweepJobs sends unsent and lost jobs, with whether the ages of jobs can be trusted. Called after each
 * renewal.
 * @param deps.sweepWaits resumes parked (paused) runs whose wait is over, and stops those whose stop was requested;
 * never rejects.
 */
export function followRuns(deps: {
  db: Database;
  bus: EventBus;
  localStops: StopRegistry;
  logger: Logger;
  sweepJobs: (areAgesTrusted: boolean) => Promise<void>;
  sweepWaits: () => Promise<void>;
}) {
  const { db, bus, localStops, logger, sweepJobs, sweepWaits } = deps;
  const pace = createPace(PLAYED_EVERY_MS, LOST_AFTER_MS);
  /**
   * One entry per play of a run. Two plays of the same run may briefly overlap, until one finds that it has lost its
   * claim.
   */
  const plays = new Map<{ runId: string }, Promise<unknown>>();
  const listPlayed = () => [...new Set([...plays.keys()].map(({ runId }) => runId))];
  const logFailure = (error: unknown) =>
    logger.warn({ err: error }, "the jobs of running turns could not be renewed");

  async function pollStopRequests(): Promise<void> {
    for (const runId of await listStopRequested(db, listPlayed())) localStops.stop(runId, STOPPED_REASON);
  }
  const unsubscribe = bus.onSignal(
    TOPIC,
    (runId) => localStops.stop(runId, STOPPED_REASON),
    () => void pollStopRequests().catch(logFailure),
  );
  async function renew(): Promise<boolean> {
    await Promise.all([recordRunsPlayed(db, listPlayed()), pollStopRequests()]);
    return pace.isSteady(await readDatabaseClock(db));
  }

  const renewAndSweep = async () => sweepJobs(await renew());
  const stopRepeating = repeat(PLAYED_EVERY_MS, () =>
    Promise.all([renewAndSweep().catch(logFailure), sweepWaits()]),
  );

  const stops: StopRegistry = { ...localStops, stop: (runId) => bus.signal(TOPIC, runId) };
  return {
    stops,
    /**
     * Renews the jobs of the runs that this process plays, so that these jobs do not count as lost.
     *
     * @returns whether the age of a job can be trusted. It cannot after a gap between renewals, or after a jump of the
     * database's clock.
     */
    renew,
    /**
     * Tracks a run while it is played. If the run pauses, renews its job once more, so that the job does not count as
     * lost before the engine continues the run.
     */
    async trackPlay<Result extends { status: string }>(
      runId: string,
      play: () => Promise<Result>,
    ): Promise<Result> {
      const entry = { runId };
      const playing = play();
      plays.set(entry, playing);
      try {
        const result = await playing;
        if (result.status === "paused") await recordRunsPlayed(db, [runId]).catch(logFailure);
        return result;
      } finally {
        plays.delete(entry);
      }
    },
    /** Resolves when this process plays none of these runs; without `runIds`, when it plays no run. */
    async waitForPlays(runIds?: readonly string[]): Promise<void> {
      const awaited = [...plays].filter(([{ runId }]) => runIds?.includes(runId) ?? true);
      await Promise.allSettled(awaited.map(([, playing]) => playing));
    },
    /** Ends the sweeps, and waits for one in progress, because the database is closed after this. */
    async close(): Promise<void> {
      unsubscribe();
      await stopRepeating();
    },
  };
}
