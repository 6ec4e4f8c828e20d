import type { Database } from "#db/client.ts";
import type { Logger } from "#lib/log/logger.ts";
import { listNewestSeqs } from "../event-store.ts";
import type { LocalBus } from "./local-bus.ts";

/**
 * Finds stored events that were not published, because the writing process ended right after its commit or did not
 * learn that the commit succeeded. This process itself may be the writing process, so the sweep also runs while there
 * are no other processes.
 */
export type LogSweep = {
  /**
   * Compares the log with the delivered events. Reports a gap (calls `onGap` of the listeners) for each session that
   * has newer events, and for each session of which no delivered event is recorded yet. Uses one statement for all
   * sessions with listeners, and none if there are no listeners.
   */
  run: () => Promise<void>;
  /** Records that an event was delivered. */
  recordDelivered: (sessionId: string, seq: number) => void;
  /** Forgets which events of a session were delivered, so that the next run reports a gap for the session. */
  forget: (sessionId: string) => void;
};

export function createLogSweep(deps: {
  db: Database;
  local: Pick<LocalBus, "hasListeners" | "listSessions" | "recheck">;
  logger: Pick<Logger, "debug">;
}): LogSweep {
  const { db, local, logger } = deps;
  /**
   * By session id: sequence number of the newest event that was delivered or for which a gap was reported. The next run
   * removes sessions that no longer have listeners.
   */
  const delivered = new Map<string, number>();

  return {
    async run() {
      for (const sessionId of delivered.keys())
        if (!local.hasListeners(sessionId)) delivered.delete(sessionId);
      const sessionIds = local.listSessions();
      if (sessionIds.length === 0) return;
      try {
        for (const { sessionId, seq } of await listNewestSeqs(db, sessionIds)) {
          const deliveredSeq = delivered.get(sessionId) ?? -1;
          if (seq <= deliveredSeq) continue;
          delivered.set(sessionId, seq);
          local.recheck(sessionId);
        }
      } catch (error) {
        logger.debug({ err: error }, "comparing the bus with the log failed");
      }
    },
    recordDelivered(sessionId, seq) {
      if (local.hasListeners(sessionId))
        delivered.set(sessionId, Math.max(seq, delivered.get(sessionId) ?? 0));
    },
    forget: (sessionId) => void delivered.delete(sessionId),
  };
}
