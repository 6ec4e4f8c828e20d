import type { Logger } from "pino";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import type { ControlState } from "#lib/browser/view/control-state.ts";
import { settleHandoversOf } from "#lib/session/inbox/handovers.ts";
import { listControlWaits, listStoppedParked } from "#lib/session/store/wait-store.ts";
import { endControlWaits, endOverdueWaits, type WakeDeps } from "#lib/session/waiting/waiting.ts";

/**
 * Wakes parked (paused) runs at their deadline, and when a person returns control of the browser. Stops parked runs
 * whose stop was requested but not carried out. Keeps no state per run: the sweep reads the rows.
 *
 * @param deps.stopRun stops a parked run.
 * @param deps.readControl asks the host of a session who has control.
 */
export function followWaits(
  deps: WakeDeps & {
    logger: Logger;
    stopRun: (runId: string) => Promise<void>;
    readControl: (sessionId: string) => Promise<ControlState | undefined>;
  },
  control: Pick<BrowserControl, "onHolder" | "settle">,
) {
  const { db, logger } = deps;
  const stopListening = control.onHolder(({ sessionId, holder, ended }) => {
    if (holder) return;
    if (ended === "given_back") void endHandovers(sessionId);
    void wakeFreed(sessionId);
  });

  /** A person who gives the browser back has done what the agent asked for. */
  async function endHandovers(sessionId: string): Promise<void> {
    await settleHandoversOf(deps, sessionId).catch((error: unknown) =>
      logger.warn({ sessionId, err: error }, "a handover was not settled; a person can still settle it"),
    );
  }

  async function wakeFreed(sessionId: string): Promise<void> {
    await endControlWaits(deps, sessionId).catch((error: unknown) =>
      logger.warn({ sessionId, err: error }, "a parked turn could not be resumed; the next sweep retries"),
    );
  }

  async function sweepControl(): Promise<void> {
    const sessionIds = new Set((await listControlWaits(db)).map(({ sessionId }) => sessionId));
    const wakeIfFree = async (sessionId: string) => {
      // This process may have missed a message, so the host is asked.
      const state = await deps.readControl(sessionId);
      control.settle(sessionId, state);
      if (!state?.holder) await wakeFreed(sessionId);
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
    /**
     * Resumes parked runs whose wait is over, and stops parked runs whose stop was requested. Logs failures; the next
     * sweep retries.
     */
    async sweep(): Promise<void> {
      for (const step of [() => endOverdueWaits(deps), sweepStopped, sweepControl])
        await step().catch((error: unknown) => logger.warn({ err: error }, "a sweep of waits failed"));
    },
    close: stopListening,
  };
}
