import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import { readDatabaseClock } from "#db/database-time.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import { noteRunsPlayed } from "#lib/session/jobs/job-store.ts";
import { createPace } from "#lib/session/jobs/pace.ts";
import { LOST_AFTER_MS, PLAYED_EVERY_MS } from "#lib/session/jobs/resend-lost-runs.ts";
import { listStopRequested } from "#lib/session/run/run-store.ts";
import { STOPPED_REASON, type StopRegistry } from "#lib/turn/run/stop-registry.ts";

const TOPIC = "stop-run";

/**
 * Makes the runs of this process known to the others: a stop reaches the process that plays the run, and the jobs of runs
 * in play are renewed so that they do not count as lost. Stop signals that were missed (a lost connection, a process that
 * ended between storing and sending one) are read from the rows.
 *
 * @param deps.own the signals of the runs that this process plays.
 * @param deps.resendLost looks for lost jobs, after each renewal; absent where the engine cannot lose any.
 * @param deps.sweepWaits ends the waits of parked runs that are over; never rejects.
 */
export function followRuns(deps: {
  db: Database;
  bus: EventBus;
  own: StopRegistry;
  logger: Logger;
  resendLost?: (() => Promise<void>) | undefined;
  sweepWaits: () => Promise<void>;
}) {
  const { db, bus, own, logger, resendLost, sweepWaits } = deps;
  const pace = createPace(PLAYED_EVERY_MS, LOST_AFTER_MS);
  /** One entry for each play: a run may be played twice at once, and one of the two finds its claim over. */
  const plays = new Map<{ runId: string }, Promise<unknown>>();
  const listPlayed = () => [...new Set([...plays.keys()].map(({ runId }) => runId))];
  const complain = (error: unknown) => logger.warn({ err: error }, "renewing the runs in play failed");

  async function pollStopRequests(): Promise<void> {
    for (const runId of await listStopRequested(db, listPlayed())) own.stop(runId, STOPPED_REASON);
  }
  const stopHearing = bus.onSignal(
    TOPIC,
    (runId) => own.stop(runId, STOPPED_REASON),
    () => void pollStopRequests().catch(complain),
  );
  async function renew(): Promise<boolean> {
    await Promise.all([noteRunsPlayed(db, listPlayed()), pollStopRequests()]);
    return pace.isSteady(await readDatabaseClock(db));
  }

  async function keepUp(): Promise<void> {
    if (await renew()) await resendLost?.();
  }

  const timer = setInterval(() => {
    void keepUp().catch(complain);
    void sweepWaits();
  }, PLAYED_EVERY_MS);
  timer.unref();

  const stops: StopRegistry = { ...own, stop: (runId) => bus.signal(TOPIC, runId) };
  return {
    stops,
    /**
     * Renews the jobs of the runs in play, so that a look for lost jobs does not find them.
     *
     * @returns false while the ages of other processes' jobs say nothing, after a gap or a jump of the database's clock.
     */
    renew,
    /** Follows a run for as long as it is played; a run that pauses goes back to the engine. */
    async whilePlayed<Result extends { status: string }>(
      runId: string,
      play: () => Promise<Result>,
    ): Promise<Result> {
      const entry = { runId };
      const playing = play();
      plays.set(entry, playing);
      try {
        const result = await playing;
        if (result.status === "paused") await noteRunsPlayed(db, [runId]).catch(complain);
        return result;
      } finally {
        plays.delete(entry);
      }
    },
    /** Resolves when this process plays none of these runs any more. */
    async untilUnplayed(runIds: readonly string[]): Promise<void> {
      await Promise.allSettled(
        [...plays].flatMap(([{ runId }, playing]) => (runIds.includes(runId) ? [playing] : [])),
      );
    },
    close() {
      clearInterval(timer);
      stopHearing();
    },
  };
}
