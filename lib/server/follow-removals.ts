import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import type { LiveHub } from "#lib/api/live/live-hub.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { EventBus } from "#lib/events/bus/bus.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { removeEvidenceFiles } from "#lib/evidence/evidence.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { SandboxService } from "#lib/sandbox/sandbox-service.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { findLeftoverFolders } from "#lib/session/removal/find-leftover-folders.ts";
import { findLeftoverRows } from "#lib/session/removal/leftover-store.ts";
import {
  listRemovals,
  markRemoval,
  markVerified,
  pruneRemovals,
} from "#lib/session/removal/removal-store.ts";
import { RemovalError } from "#lib/session/removal/remove-folder.ts";
import {
  type PendingRemoval,
  type RemovalOutcome,
  type RemovedPart,
  removeSession,
} from "#lib/session/removal/remove-session.ts";
import type { StopRegistry } from "#lib/turn/run/stop-registry.ts";

const TOPIC = "session-removed";
/** A session has at most one run in play, and a signal between processes is short. */
const RUNS_SIGNALLED = 50;
/** How long a stopped run may take to end its tools. */
const STOPPING_MS = 5_000;
/** A tool that ended late may have left files behind: what was cleared sooner than this is cleared once more. */
const SETTLED_MS = 10 * 60_000;
/** How long a process that was down still learns of a removal. */
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
  securityLog: Pick<SecurityLog, "sessionRemoved" | "erasureVerified" | "erasureFailed">;
  /** Undefined where nothing is kept on disk. */
  dataDir: string | undefined;
  live: Pick<LiveHub, "sessionRemoved">;
};

/**
 * Removes sessions: their rows in one transaction, and then, in every process, what lies outside the database: runs in
 * play, streams and sockets, the browser, the workspace, files of evidence. Each part is removed whatever became of the
 * others. The sweep retries what failed, also after a restart, until it is gone. Then a check proves that no row and no
 * file is left, and the security log records its outcome. Source: `wire.md`, Also served; decision 051.
 */
export function followRemovals(deps: RemovalDeps) {
  const { db, bus, logger, stops, securityLog } = deps;
  const clearing = new Map<string, Promise<PendingRemoval[]>>();
  /** Runs of removed sessions that had not ended when last looked at. */
  const unended = new Map<string, string[]>();
  /** When each session was cleared last, without anything pending. */
  const cleared = new Map<string, number>();
  /** Sessions of which something is left that should be gone. */
  const failures = new Set<string>();

  function clear(sessionId: string, runIds: string[]): Promise<PendingRemoval[]> {
    const underWay = clearing.get(sessionId);
    if (underWay) return underWay;
    const openRunIds = unended.get(sessionId) ?? runIds;
    const work = clearOutside(sessionId, openRunIds).finally(() => clearing.delete(sessionId));
    clearing.set(sessionId, work);
    return work;
  }

  async function clearOutside(sessionId: string, runIds: string[]): Promise<PendingRemoval[]> {
    const pending = await removeParts(deps, sessionId, async () => {
      unended.set(sessionId, runIds);
      await withinStoppingTime(deps.untilUnplayed(runIds));
      unended.delete(sessionId);
    });
    if (pending.length === 0) cleared.set(sessionId, Date.now());
    await markRemoval(db, sessionId, pending.length > 0).catch((error: unknown) =>
      logger.warn({ err: error, sessionId }, "the state of a removal was not stored"),
    );
    return pending;
  }

  /**
   * Checks that nothing is left of sessions that were cleared: no row in the database, no file of this process. The verdict
   * is recorded in the security log.
   *
   * @param pending what clearing them could not remove.
   * @param runIds their runs, if they are known.
   * @returns what else is left.
   */
  async function verify(
    sessionIds: string[],
    pending: PendingRemoval[],
    runIds?: string[],
  ): Promise<PendingRemoval[]> {
    const rows = await findLeftoverRows(db, sessionIds, runIds);
    const found: PendingRemoval[] = [];
    for (const sessionId of sessionIds) {
      const isTheirs = (each: { sessionId: string }) => each.sessionId === sessionId;
      const known = pending.filter(isTheirs);
      const tables = rows.filter(isTheirs).map(({ table }) => table);
      const left: PendingRemoval[] =
        tables.length > 0
          ? [{ sessionId, part: "rows", reason: `rows are left in ${tables.join(", ")}` }]
          : [];
      // What has not ended yet may still write files; the sweep clears and checks again.
      const isAtWork = known.some(({ part }) => part === "run" || part === "browser");
      if (!isAtWork) left.push(...(await findFiles(deps, sessionId, known)));
      found.push(...left);
      const undeleted = known.filter(({ part }) => part === "workspace" || part === "evidence");
      await recordVerdict(sessionId, [...undeleted, ...left], isAtWork);
    }
    return found;
  }

  async function recordVerdict(sessionId: string, left: PendingRemoval[], isAtWork: boolean): Promise<void> {
    if (left.length === 0) {
      failures.delete(sessionId);
      if (!isAtWork && (await markVerified(db, sessionId))) securityLog.erasureVerified({ sessionId });
      return;
    }
    // Once, and not with each retry.
    if (!failures.has(sessionId))
      securityLog.erasureFailed({ sessionId, left: left.map(({ part, reason }) => `${part}: ${reason}`) });
    failures.add(sessionId);
    await markRemoval(db, sessionId, true);
  }

  /** Clears what removals left in this process's reach: at once, again while something is pending, and once settled. */
  async function sweep(now: Date): Promise<void> {
    const since = new Date(now.getTime() - KEEP_MS);
    // Without a disk there is only what runs, which does not outlast its session for long.
    const from = deps.dataDir === undefined ? new Date(now.getTime() - 2 * SETTLED_MS) : since;
    const removals = await listRemovals(db, from);
    const pending: PendingRemoval[] = [];
    const unverified: string[] = [];
    for (const { sessionId, removedAt, verifiedAt } of removals) {
      const settledAt = removedAt.getTime() + SETTLED_MS;
      const clearedAt = cleared.get(sessionId);
      const isDue = clearedAt === undefined || (clearedAt < settledAt && now.getTime() >= settledAt);
      if (isDue) pending.push(...(await clear(sessionId, [])));
      if (isDue || verifiedAt === null) unverified.push(sessionId);
    }
    await verify(unverified, pending);
    const ids = new Set(removals.map(({ sessionId }) => sessionId));
    for (const sessionId of cleared.keys()) if (!ids.has(sessionId)) cleared.delete(sessionId);
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
     * Removes a session of this owner and its sub-agents, with what this process has of them outside the database.
     *
     * @param actor who removes it, for the security log.
     * @param unlessTouchedSince leaves a session alone that was used since then, or has an open run.
     * @returns undefined where the owner has no such session, or it was left alone.
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
      const runIds = removal.openRunIds.slice(0, RUNS_SIGNALLED);
      for (const runId of removal.openRunIds) stops.stop(runId, "the session was removed");
      for (const id of removal.sessionIds) bus.signal(TOPIC, [id, ...runIds].join(" "));
      const pending = (await Promise.all(removal.sessionIds.map((id) => clear(id, runIds)))).flat();
      const left = await verify(removal.sessionIds, pending, removal.runIds).catch((error: unknown) => {
        // The rows are gone; the sweep checks it.
        logger.warn({ err: error, sessionId }, "a removal could not be verified");
        return [];
      });
      const { rows: deleted, publications, pages } = removal;
      return { deleted, pending: [...pending, ...left], publications, pages };
    },
    sweep,
    /** How many removed sessions are known to have left something behind. */
    countFailures: () => failures.size,
    async close() {
      unsubscribe();
      await Promise.all(clearing.values());
    },
  };
}

/** What is left of a removed session in this process's data folder, except what is known to be left. */
async function findFiles(
  { dataDir }: RemovalDeps,
  sessionId: string,
  known: PendingRemoval[],
): Promise<PendingRemoval[]> {
  const folders = dataDir === undefined ? [] : await findLeftoverFolders(dataDir, sessionId);
  return folders.flatMap((folder) => {
    const part = folder === "evidence" ? "evidence" : "workspace";
    const isKnown = known.some((each) => each.sessionId === sessionId && each.part === part);
    return isKnown ? [] : [{ sessionId, part, reason: `there are files of it in ${folder}` }];
  });
}

/** Removes what a session has outside the database. @returns the parts that could not be removed. */
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

/** @throws Error when stopped runs take longer to end than they may. */
async function withinStoppingTime(ended: Promise<void>): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`a stopped run did not end within ${STOPPING_MS / 1_000} s`)),
    STOPPING_MS,
  );
  try {
    await Promise.race([ended, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
