import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "#db/client.ts";
import {
  deleteEvidence,
  type EvidencePosition,
  isInDatabase,
  listOldEvidence,
  type OldEvidence,
} from "./evidence-store.ts";

/** What a batch did: the rows that are gone, and evidence whose file could not be removed, which keeps its row. */
type RemovedEvidence = {
  removed: number;
  /** Position of the last row of the batch; null if the batch was not full. */
  next: EvidencePosition | null;
  failed: (Pick<OldEvidence, "id" | "sessionId"> & { error: unknown })[];
};

/**
 * Removes a batch of evidence that was made before a time, in sessions without an open run. A file is removed before its
 * row: after a crash the row names what is still to be removed.
 *
 * @param dataDir undefined where nothing is kept on disk; rows of files are then left alone.
 * @param isAlone whether no other process uses the database. Otherwise a file that is not in this process's folder is in that
 * of another one, and its row is left alone.
 */
export async function removeOldEvidence(
  { db, dataDir, isAlone }: { db: Database; dataDir: string | undefined; isAlone: boolean },
  page: { before: Date; after: EvidencePosition | null; limit: number },
): Promise<RemovedEvidence> {
  const rows = await listOldEvidence(db, page);
  const gone: OldEvidence[] = [];
  const failed: RemovedEvidence["failed"] = [];
  for (const row of rows) {
    try {
      if (!isInDatabase(row.path)) {
        if (dataDir === undefined) continue;
        const isRemoved = await removeFile(join(dataDir, row.path));
        if (!isRemoved && !isAlone) continue;
      }
      gone.push(row);
    } catch (error) {
      failed.push({ id: row.id, sessionId: row.sessionId, error });
    }
  }
  const removed = gone.length > 0 ? await deleteEvidence(db, gone) : 0;
  const last = rows.length === page.limit ? rows.at(-1) : undefined;
  return { removed, failed, next: last ? { createdAt: last.createdAt, id: last.id } : null };
}

/** @returns false if there is no such file. @throws Error when it cannot be removed. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await rm(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
