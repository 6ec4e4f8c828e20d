import type { Logger } from "pino";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";
import { listControlWaits } from "#lib/session/waiting/wait-store.ts";
import { endControlWaits, endOverdueWaits, type WakeDeps } from "#lib/session/waiting/waiting.ts";

/** Longer than another process may take to repeat that one of its connections has control. */
const CONFIRM_WITHIN_MS = 3_000;

/**
 * Wakes parked runs whose waits end without anybody's doing: their time is over, or a person's control of the browser has
 * ended. Nothing is kept per parked run; a process that ended in between left the waits in the database for the next sweep.
 */
export function followWaits(
  deps: WakeDeps & { logger: Logger },
  control: Pick<BrowserControl, "onFree" | "untilFree">,
) {
  const closing = new AbortController();
  const wakeFreed = (sessionId: string) =>
    endControlWaits(deps, sessionId).catch((error: unknown) =>
      deps.logger.warn({ sessionId, err: error }, "a turn could not be woken; the next sweep wakes it"),
    );
  const stopListening = control.onFree((sessionId) => void wakeFreed(sessionId));

  /** A holder whose process has ended released nothing: asking about it finds that out. */
  async function wakeIfFree(sessionId: string): Promise<void> {
    if (await control.untilFree(sessionId, CONFIRM_WITHIN_MS, closing.signal)) await wakeFreed(sessionId);
  }

  return {
    /** Looks for waits that are over. */
    async sweep(): Promise<void> {
      await endOverdueWaits(deps);
      const sessionIds = new Set((await listControlWaits(deps.db)).map(({ sessionId }) => sessionId));
      await Promise.all([...sessionIds].map(wakeIfFree));
    },
    close() {
      stopListening();
      closing.abort();
    },
  };
}
