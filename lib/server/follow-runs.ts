import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import type { EventBus } from "#lib/events/bus.ts";
import { noteRunsPlayed } from "#lib/session/lost-run-store.ts";
import { PLAYED_EVERY_MS } from "#lib/session/resend-lost-runs.ts";
import { listAskedToStop } from "#lib/session/stop-wish-store.ts";
import { STOPPED_REASON, type StopRegistry } from "#lib/turn/stop-registry.ts";

const TOPIC = "stop-run";

/**
 * Makes the runs of this process known to the others: a stop reaches whichever process plays the run, and what is being
 * played is not taken for lost. A word that was missed (a lost connection, a process that ended between storing the wish
 * and saying it) is made up for by the rows.
 *
 * @param own the signals of the runs that this process plays.
 */
export function followRuns(deps: { db: Database; bus: EventBus; own: StopRegistry; logger: Logger }) {
  const { db, bus, own, logger } = deps;
  /** One entry for each play: a run may be played twice at once, of which one will find its claim gone. */
  const plays = new Map<{ runId: string }, Promise<unknown>>();
  const listPlayed = () => [...new Set([...plays.keys()].map(({ runId }) => runId))];
  const complain = (error: unknown) => logger.warn({ err: error }, "the runs at work were not looked after");

  async function heedWishes(): Promise<void> {
    for (const runId of await listAskedToStop(db, listPlayed())) own.stop(runId, STOPPED_REASON);
  }
  const stopHearing = bus.onSignal(
    TOPIC,
    (runId) => own.stop(runId, STOPPED_REASON),
    () => void heedWishes().catch(complain),
  );
  const timer = setInterval(() => {
    Promise.all([noteRunsPlayed(db, listPlayed(), new Date()), heedWishes()]).catch(complain);
  }, PLAYED_EVERY_MS);
  timer.unref();

  const stops: StopRegistry = { ...own, stop: (runId) => bus.signal(TOPIC, runId) };
  return {
    stops,
    /** Follows a run for as long as it is played; where it only pauses, the engine has it in hand from now on. */
    async whilePlayed<Result extends { status: string }>(
      runId: string,
      play: () => Promise<Result>,
    ): Promise<Result> {
      const entry = { runId };
      const playing = play();
      plays.set(entry, playing);
      try {
        const result = await playing;
        if (result.status === "paused") await noteRunsPlayed(db, [runId], new Date()).catch(complain);
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
