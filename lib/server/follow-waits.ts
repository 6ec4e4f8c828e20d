import type { Logger } from "pino";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { listControlWaits, listStoppedParked } from "#lib/session/waiting/wait-store.ts";
import { endControlWaits, endOverdueWaits, type WakeDeps } from "#lib/session/waiting/waiting.ts";

/**
 * Wakes parked runs at their deadline and when a person gives control of the browser back, and ends those whose stop was
 * requested but not carried out. It keeps no state per run: the sweep reads the rows.
 *
 * @param deps.stopRun ends a run that is to stop.
 */
export function followWaits(
  deps: WakeDeps & { logger: Logger; stopRun: (runId: string) => Promise<void> },
  control: Pick<BrowserControl, "onFree" | "isConfirmedFree">,
) {
  const { db, logger } = deps;
  const stopListening = control.onFree((sessionId) => void wakeFreed(sessionId));

  async function wakeFreed(sessionId: string): Promise<void> {
    await endControlWaits(deps, sessionId).catch((error: unknown) =>
      logger.warn({ sessionId, err: error }, "a turn could not be woken; the next sweep wakes it"),
    );
  }

  async function sweepControl(): Promise<void> {
    const sessionIds = new Set((await listControlWaits(db)).map(({ sessionId }) => sessionId));
    const wakeIfFree = async (sessionId: string) => {
      if (await control.isConfirmedFree(sessionId)) await wakeFreed(sessionId);
    };
    await Promise.all([...sessionIds].map(wakeIfFree));
  }

  async function sweepStopped(): Promise<void> {
    for (const runId of await listStoppedParked(db))
      await deps
        .stopRun(runId)
        .catch((error: unknown) => logger.warn({ runId, err: error }, "a parked turn could not be stopped"));
  }

  return {
    /** Looks for waits that are over. A failure is logged: the next sweep looks again. */
    async sweep(): Promise<void> {
      for (const look of [() => endOverdueWaits(deps), sweepStopped, sweepControl])
        await look().catch((error: unknown) => logger.warn({ err: error }, "a look for waits failed"));
    },
    close: stopListening,
  };
}
