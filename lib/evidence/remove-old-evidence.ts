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

/** The result of a batch: the number of deleted rows, and evidence that keeps its row because removing its file failed. */
type RemovalResult = {
  removed: number;
  /** Position of the last row of the batch; null if the batch was not full. */
  next: EvidencePosition | null;
  failed: (Pick<OldEvidence, "id" | "sessionId"> & { error: unknown })[];
};

/**
 * Removes a batch of evidence created before a time, in sessions without an open run. Each file is removed before its
 * row, so after a crash the remaining rows name the files that are still to be removed.
 *
 * @param dataDir undefined if this process stores nothing on disk; rows whose bytes are in files then stay.
 * @param isAlone whether no other process uses the database. Otherwise a file that is missing here may be in the folder
 * of another process, so its row stays.
 */
export async function removeOldEvidence(
  { db, dataDir, isAlone }: { db: Database; dataDir: string | undefined; isAlone: boolean },
  page: { before: Date; after: EvidencePosition | null; limit: number },
): Promise<RemovalResult> {
  const rows = await listOldEvidence(db, page);
  const deletable: OldEvidence[] = [];
  const failed: RemovalResult["failed"] = [];
  for (const row of rows) {
    try {
      if (!isInDatabase(row.path)) {
        if (dataDir === undefined) continue;
        const isRemoved = await removeFile(join(dataDir, row.path));
        if (!isRemoved && !isAlone) continue;
      }
      deletable.push(row);
    } catch (error) {
      failed.push({ id: row.id, sessionId: row.sessionId, error });
    }
  }
  const removed = deletable.length > 0 ? await deleteEvidence(db, deletable) : 0;
  const last = rows.length === page.limit ? rows.at(-1) : undefined;
  return { removed, failed, next: last ? { createdAt: last.createdAt, id: last.id } : null };
}

/** @returns false if the file does not exist. @throws Error if it cannot be removed. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await rm(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
