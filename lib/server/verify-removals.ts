import type { Logger } from "pino";
import type { Database } from "#db/client.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { findLeftoverFolders } from "#lib/session/removal/find-leftover-folders.ts";
import type { PendingRemoval } from "#lib/session/removal/remove-session.ts";
import { findLeftoverRows } from "#lib/session/store/leftover-store.ts";
import { markRemoval, markVerified } from "#lib/session/store/removal-store.ts";

export type RemovalCheckDeps = {
  db: Database;
  logger: Logger;
  securityLog: Pick<SecurityLog, "erasureVerified" | "erasureFailed">;
  /** The folder for files; undefined if no files are kept on disk. */
  dataDir: string | undefined;
};

type RemovalCheck = {
  /**
   * Checks that cleared sessions have no rows in the database and no files in this process's data folder. Records the
   * result in the security log. A session whose check fails with an error stays unverified, and a later sweep repeats
   * the check.
   *
   * @param pending the parts that could not be removed.
   * @param runIds the runs of the sessions, if the caller knows them.
   * @returns the rows and files that are left, except those in `pending`.
   */
  verify: (sessionIds: string[], pending: PendingRemoval[], runIds?: string[]) => Promise<PendingRemoval[]>;
  /** Returns the number of removed sessions for which the last check found rows or files. */
  countFailures: () => number;
};

/** Creates a {@link RemovalCheck}. Source: decision 051. */
export function createRemovalCheck(deps: RemovalCheckDeps): RemovalCheck {
  const { db, logger, securityLog } = deps;
  /** Removed sessions for which the last check found rows or files. */
  const failures = new Set<string>();

  /** @returns what is left of one session. */
  async function verifyOne(
    sessionId: string,
    tables: string[],
    pending: PendingRemoval[],
  ): Promise<PendingRemoval[]> {
    const left: PendingRemoval[] =
      tables.length > 0 ? [{ sessionId, part: "rows", reason: `rows are left in ${tables.join(", ")}` }] : [];
    // A run or browser that has not ended may still write files. The sweep clears the session and checks again.
    const isStillRunning = pending.some(({ part }) => part === "run" || part === "browser");
    if (!isStillRunning) left.push(...(await findFiles(deps.dataDir, sessionId, pending)));
    const undeleted = pending.filter(({ part }) => part === "workspace" || part === "evidence");
    await recordResult(sessionId, [...undeleted, ...left], isStillRunning);
    return left;
  }

  async function recordResult(
    sessionId: string,
    left: PendingRemoval[],
    isStillRunning: boolean,
  ): Promise<void> {
    if (left.length === 0) {
      failures.delete(sessionId);
      if (!isStillRunning && (await markVerified(db, sessionId))) securityLog.erasureVerified({ sessionId });
      return;
    }
    // Log the failure once, not with each retry.
    if (!failures.has(sessionId))
      securityLog.erasureFailed({ sessionId, left: left.map(({ part, reason }) => `${part}: ${reason}`) });
    failures.add(sessionId);
    await markRemoval(db, sessionId, true);
  }

  /** Does a part of the check. @returns undefined if the part failed; the failure is logged. */
  async function attempt<T>(sessionIds: string[], part: () => Promise<T>): Promise<T | undefined> {
    try {
      return await part();
    } catch (error) {
      logger.warn(
        { err: error, sessionIds },
        "a removal could not be verified; the sweep will repeat the check",
      );
      return undefined;
    }
  }

  return {
    async verify(sessionIds, pending, runIds) {
      const rows = await attempt(sessionIds, () => findLeftoverRows(db, sessionIds, runIds));
      if (!rows) return [];
      const leftovers: PendingRemoval[] = [];
      for (const sessionId of sessionIds) {
        const isOfSession = (each: { sessionId: string }) => each.sessionId === sessionId;
        const tables = rows.filter(isOfSession).map(({ table }) => table);
        const ownPending = pending.filter(isOfSession);
        const left = await attempt([sessionId], () => verifyOne(sessionId, tables, ownPending));
        leftovers.push(...(left ?? []));
      }
      return leftovers;
    },
    countFailures: () => failures.size,
  };
}

/** Finds files of a removed session in this process's data folder, except files of its pending parts. */
async function findFiles(
  dataDir: string | undefined,
  sessionId: string,
  pending: PendingRemoval[],
): Promise<PendingRemoval[]> {
  const folders = dataDir === undefined ? [] : await findLeftoverFolders(dataDir, sessionId);
  return folders.flatMap((folder) => {
    const part = folder === "evidence" ? "evidence" : "workspace";
    const isPending = pending.some((each) => each.part === part);
    return isPending ? [] : [{ sessionId, part, reason: `there are files of it in ${folder}` }];
  });
}
