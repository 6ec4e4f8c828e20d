import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import {
  type KeptPublication,
  type Removal,
  type RemovedRows,
  removeSessionRows,
} from "../store/removal-store.ts";

export type { Removal, RemovedRows } from "../store/removal-store.ts";

/**
 * Parts of a session that may remain after its removal. `run`: a process still plays a run of the session. `rows`: a
 * check after the removal found rows in the database. The other parts are outside the database.
 */
export const REMOVED_PARTS = ["run", "browser", "workspace", "evidence", "rows"] as const;
export type RemovedPart = (typeof REMOVED_PARTS)[number];

/** A part of a removed session that could not be removed yet. The service retries until it is removed. */
export type PendingRemoval = { sessionId: string; part: RemovedPart; reason: string };

/** The result of a removal: the deleted rows, the parts that still have to be removed, and what remains published. */
export type RemovalOutcome = {
  deleted: RemovedRows;
  pending: PendingRemoval[];
  publications: KeptPublication[];
  /** Slugs of the landing pages that remain published. */
  pages: string[];
};

/**
 * Removes a session of this owner with all its data in the database, in one transaction. Only published variants and
 * landing pages remain.
 *
 * @param unlessTouchedSince if set, a session that was used at or after this time, or that has an open run, is not
 * removed.
 * @returns undefined if the owner has no such session, or if the session was not removed.
 */
export const removeSession = (
  db: Database,
  sessionId: string,
  ownerId: string,
  unlessTouchedSince?: Date,
): Promise<Removal | undefined> =>
  repeatOnDeadlock(() =>
    db.transaction((tx) => removeSessionRows(tx, sessionId, ownerId, unlessTouchedSince)),
  );
