import type { Database } from "#db/client.ts";
import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import { type KeptPublication, type Removal, type RemovedRows, removeSessionRows } from "./removal-store.ts";

export type { Removal, RemovedRows } from "./removal-store.ts";

/** What a session has outside the database; and rows, if a check after the removal found that some are left. */
export const REMOVED_PARTS = ["run", "browser", "workspace", "evidence", "rows"] as const;
export type RemovedPart = (typeof REMOVED_PARTS)[number];

/** A part of a removed session that could not be removed yet; the service tries again until it is gone. */
export type PendingRemoval = { sessionId: string; part: RemovedPart; reason: string };

/** What a removal did: the rows that went, what is still to be removed outside the database, and what stays published. */
export type RemovalOutcome = {
  deleted: RemovedRows;
  pending: PendingRemoval[];
  publications: KeptPublication[];
  /** Slugs of the landing pages that stay published. */
  pages: string[];
};

/**
 * Removes a session of this owner with everything the database has of it, in one transaction: whoever asks next finds
 * either all of it or nothing. Where a run that begins or ends at the same moment waits for it as it waits for that run,
 * one of the two is done again.
 *
 * @param unlessTouchedSince leaves a session alone that was used since then, or has an open run.
 * @returns undefined where the owner has no such session, or it was left alone.
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
