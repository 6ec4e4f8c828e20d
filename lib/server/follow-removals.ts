import type { LiveHub } from "#lib/api/live/live-hub.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { removeEvidenceFiles } from "#lib/evidence/evidence.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { RemovalError } from "#lib/session/removal/remove-folder.ts";
import {
  type PendingRemoval,
  type RemovalOutcome,
  type RemovedPart,
  removeSession,
} from "#lib/session/removal/remove-session.ts";
import { listRemovals, markRemoval, pruneRemovals } from "#lib/session/store/removal-store.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { StopRegistry } from "#lib/turn/run/stop-registry.ts";
import { createRemovalCheck, type RemovalCheckDeps } from "./verify-removals.ts";

const TOPIC = "session-removed";
/** The largest number of run ids in one signal, because signals between processes must be short. */
const SIGNALLED_RUNS_MAX = 50;
/** How long to wait until the tools of a stopped run have ended. */
const STOPPING_MS = 5_000;
/** A tool that ended late may have written files again. So each session is cleared once more this long after its removal. */
const SETTLED_MS = 10 * 60_000;
/** How long removals are stored, so that a process that was down can still clear its files. */
const KEEP_MS = 7 * 24 * 3_600_000;

type RemovalDeps = RemovalCheckDeps & {
  bus: EventBus;
  log: EventLog;
  stops: StopRegistry;
  waitForPlays: (runIds: readonly string[]) => Promise<void>;
  browser: Pick<BrowserService, "closeSession">;
  sandbox: Pick<SandboxService, "remove">;
  securityLog: Pick<SecurityLog, "sessionRemoved">;
  live: Pick<LiveHub, "sessionRemoved">;
};

/**
 * Removes sessions. First removes their rows in one transaction. Then every process removes what it holds outside the
 * database: running turns, streams and sockets, the browser, the workspace, files of evidence. If one of these parts
 * cannot be removed, the other parts are removed nevertheless. The sweep retries failed parts until they are removed,
 * also after a restart. Finally a check looks for leftover rows and files, and its result is recorded in the security
 * log. Source: `wire.md`, Also served; decision 051.
 */
export function followRemovals(deps: RemovalDeps) {
  const { db, bus, logger, stops, securityLog } = deps;
  const clearing = new Map<string, Promise<PendingRemoval[]>>();
  /** The ids of runs that had not ended when `clear` last waited for their end, by removed session. */
  const runsNotEnded = new Map<string, string[]>();
  /** When each session was last cleared completely, with no part left pending. */
  const clearedAtMs = new Map<string, number>();
  const check = createRemovalCheck(deps);

  function clear(sessionId: string, runIds: string[]): Promise<PendingRemoval[]> {
    const pendingWork = clearing.get(sessionId);
    if (pendingWork) return pendingWork;
    const openRunIds = runsNotEnded.get(sessionId) ?? runIds;
    const work = clearOutside(sessionId, openRunIds).finally(() => clearing.delete(sessionId));
    clearing.set(sessionId, work);
    return work;
  }

  async function clearOutside(sessionId: string, runIds: string[]): Promise<PendingRemoval[]> {
    const pending = await removeParts(deps, sessionId, async () => {
      runsNotEnded.set(sessionId, runIds);
      const message = `a stopped run did not end within ${STOPPING_MS / 1_000} s`;
      await createDeadline({ ms: STOPPING_MS, lateMessage: message }).race(deps.waitForPlays(runIds));
      runsNotEnded.delete(sessionId);
    });
    if (pending.length === 0) clearedAtMs.set(sessionId, Date.now());
    await markRemoval(db, sessionId, pending.length > 0).catch((error: unknown) =>
      logger.warn({ err: error, sessionId }, "the state of a removal could not be stored"),
    );
    return pending;
  }

  /** Clears removed sessions in this process: once, again as long as parts are pending, and once more after SETTLED_MS. */
  async function sweep(now: Date): Promise<void> {
    const since = new Date(now.getTime() - KEEP_MS);
    // Without a disk, only running work has to be ended. It ends soon after the removal, so older removals are skipped.
    const from = deps.dataDir === undefined ? new Date(now.getTime() - 2 * SETTLED_MS) : since;
    const removals = await listRemovals(db, from);
    const pending: PendingRemoval[] = [];
    const unverified: string[] = [];
    for (const { sessionId, removedAt, verifiedAt } of removals) {
      const settledAt = removedAt.getTime() + SETTLED_MS;
      const clearedAt = clearedAtMs.get(sessionId);
      const isDue = clearedAt === undefined || (clearedAt < settledAt && now.getTime() >= settledAt);
      if (isDue) pending.push(...(await clear(sessionId, [])));
      if (isDue || verifiedAt === null) unverified.push(sessionId);
    }
    await check.verify(unverified, pending);
    const ids = new Set(removals.map(({ sessionId }) => sessionId));
    for (const sessionId of clearedAtMs.keys()) if (!ids.has(sessionId)) clearedAtMs.delete(sessionId);
    await pruneRemovals(db, since);
  }

  const unsubscribe = bus.onSignal(
    TOPIC,
    (signal) => {
      const [sessionId = "", ...runIds] = signal.split(" ");
      void clear(sessionId, runIds);
    },
    () =>
      void sweep(new Date()).catch((error: unknown) =>
        logger.warn({ err: error }, "the sweep of removed sessions failed"),
      ),
  );

  return {
    /**
     * Removes a session that belongs to this owner, together with its sub-agents. Also removes what this process holds
     * of them outside the database, and notifies the other processes.
     *
     * @param actor the caller that removes the session, for the security log.
     * @param unlessTouchedSince if set, a session that was used after this time, or has an open run, is not removed.
     * @returns undefined if the owner has no such session, or if the session was not removed.
     */
    async remove(
      sessionId: string,
      ownerId: string,
      actor: string,
      unlessTouchedSince?: Date,
    ): Promise<RemovalOutcome | undefined> {
      const removal = await removeSession(db, sessionId, ownerId, unlessTouchedSince);
      if (!removal) return undefined;
      logger.info({ sessionId, ...removal.rows }, "a session was removed");
      securityLog.sessionRemoved({ actor, sessionId, sessions: removal.sessionIds.length });
      await faultPoint("removal-half-done");
      const runIds = removal.openRunIds.slice(0, SIGNALLED_RUNS_MAX);
      for (const runId of removal.openRunIds) stops.stop(runId, "the session was removed");
      for (const id of removal.sessionIds) bus.signal(TOPIC, [id, ...runIds].join(" "));
      const pending = (await Promise.all(removal.sessionIds.map((id) => clear(id, runIds)))).flat();
      const left = await check.verify(removal.sessionIds, pending, removal.runIds);
      const { rows: deleted, publications, pages } = removal;
      return { deleted, pending: [...pending, ...left], publications, pages };
    },
    sweep,
    countFailures: check.countFailures,
    async close() {
      unsubscribe();
      await Promise.all(clearing.values());
    },
  };
}

/** Removes those parts of a session that are outside the database. @returns the parts that could not be removed. */
async function removeParts(
  { browser, sandbox, live, log, dataDir, logger }: RemovalDeps,
  sessionId: string,
  untilRunsEnd: () => Promise<void>,
): Promise<PendingRemoval[]> {
  const pending: PendingRemoval[] = [];
  const attempt = async (part: RemovedPart, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      logger.warn({ err: error, sessionId, part }, "part of a removed session could not be removed");
      const reason = error instanceof RemovalError ? error.message : `the ${part} did not end`;
      pending.push({ sessionId, part, reason });
    }
  };
  live.sessionRemoved(sessionId);
  log.recheck(sessionId);
  await Promise.all([
    attempt("run", untilRunsEnd),
    attempt("browser", () => browser.closeSession(sessionId)),
  ]);
  await Promise.all([
    attempt("workspace", () => sandbox.remove(sessionId)),
    dataDir !== undefined && attempt("evidence", () => removeEvidenceFiles(dataDir, sessionId)),
  ]);
  return pending;
}
