import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import type { LiveHub } from "#lib/api/live/open-live.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { EventBus } from "#lib/events/bus.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { faultPoint } from "#lib/events/fault-point.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import { removeEvidenceFiles } from "#lib/session/evidence.ts";
import { listRemovals, pruneRemovals } from "#lib/session/removal-store.ts";
import { type RemovedRows, removeSession } from "#lib/session/remove-session.ts";
import type { StopRegistry } from "#lib/turn/stop-registry.ts";

const TOPIC = "session-removed";
/** Of a session's open runs at most one plays; a word between processes is short. */
const RUNS_TOLD = 50;
/** How long a run that was stopped may take to let go of its tools. */
const LETTING_GO_MS = 5_000;
/** A tool that was slow to let go may have left something behind: what was cleared sooner is cleared once more. */
const SETTLED_MS = 10 * 60_000;
/** How long a process that was away still hears of a removal. */
const KEEP_MS = 7 * 24 * 3_600_000;

type RemovalDeps = {
  db: Database;
  bus: EventBus;
  log: EventLog;
  logger: Logger;
  stops: StopRegistry;
  untilUnplayed: (runIds: readonly string[]) => Promise<void>;
  browser: Pick<BrowserService, "closeSession">;
  sandbox: Pick<SandboxService, "remove">;
  /** Undefined where nothing is kept on disk. */
  dataDir: string | undefined;
  live: () => Pick<LiveHub, "sessionRemoved">;
};

/**
 * Removes sessions: their rows in one transaction, and then, in every process, what lies outside the database: runs at
 * work, streams and sockets, the browser, the workspace, files of evidence. What a crash leaves of that is cleared by the
 * next start or the next sweep. Source: `wire.md`, Also served.
 */
export function followRemovals(deps: RemovalDeps) {
  const { db, bus, log, logger, stops } = deps;
  const clearing = new Map<string, Promise<void>>();
  /** When each was cleared last. */
  const cleared = new Map<string, number>();

  function clear(sessionId: string, runIds: string[]): Promise<void> {
    const known = clearing.get(sessionId);
    if (known) return known;
    const work = clearOutside(sessionId, runIds).then(
      () => void cleared.set(sessionId, Date.now()),
      (error: unknown) =>
        logger.warn({ err: error, sessionId }, "a removed session was not cleared; the sweep tries again"),
    );
    const noted = work.finally(() => clearing.delete(sessionId));
    clearing.set(sessionId, noted);
    return noted;
  }

  async function clearOutside(sessionId: string, runIds: string[]): Promise<void> {
    deps.live().sessionRemoved(sessionId);
    log.recheck(sessionId);
    await Promise.all([letGo(runIds), deps.browser.closeSession(sessionId)]);
    await deps.sandbox.remove(sessionId);
    if (deps.dataDir !== undefined) await removeEvidenceFiles(deps.dataDir, sessionId);
  }

  async function letGo(runIds: string[]): Promise<void> {
    const { promise: patience, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, LETTING_GO_MS);
    await Promise.race([deps.untilUnplayed(runIds), patience]);
    clearTimeout(timer);
  }

  /** Clears what removals of the last days left in this process's reach: at once, and once more when that has settled. */
  async function sweep(now: Date): Promise<void> {
    const since = new Date(now.getTime() - KEEP_MS);
    // Without a disk there is only what runs, which does not outlast its session for long.
    const asked = deps.dataDir === undefined ? new Date(now.getTime() - 2 * SETTLED_MS) : since;
    const known = await listRemovals(db, asked);
    for (const { sessionId, removedAt } of known) {
      const settledAt = removedAt.getTime() + SETTLED_MS;
      const clearedAt = cleared.get(sessionId);
      const isDue = clearedAt === undefined || (clearedAt < settledAt && now.getTime() >= settledAt);
      if (isDue) await clear(sessionId, []);
    }
    const ids = new Set(known.map(({ sessionId }) => sessionId));
    for (const sessionId of cleared.keys()) if (!ids.has(sessionId)) cleared.delete(sessionId);
    await pruneRemovals(db, since);
  }

  const stopHearing = bus.onSignal(
    TOPIC,
    (word) => {
      const [sessionId = "", ...runIds] = word.split(" ");
      void clear(sessionId, runIds);
    },
    () =>
      void sweep(new Date()).catch((error: unknown) =>
        logger.warn({ err: error }, "removals were not looked after; the sweep tries again"),
      ),
  );

  return {
    /**
     * Removes a session of this owner and its sub-agents. What is outside the database is cleared by the time it answers,
     * as far as this process has it. @returns what went; undefined where the owner has no such session.
     */
    async remove(sessionId: string, ownerId: string): Promise<RemovedRows | undefined> {
      const removal = await removeSession(db, sessionId, ownerId);
      if (!removal) return undefined;
      logger.info({ sessionId, ...removal.rows }, "a session was removed");
      await faultPoint("K31");
      const runIds = removal.openRunIds.slice(0, RUNS_TOLD);
      for (const runId of removal.openRunIds) stops.stop(runId, "the session was removed");
      for (const id of removal.sessionIds) bus.signal(TOPIC, [id, ...runIds].join(" "));
      await Promise.all(removal.sessionIds.map((id) => clear(id, runIds)));
      return removal.rows;
    },
    sweep,
    async close() {
      stopHearing();
      await Promise.all(clearing.values());
    },
  };
}
