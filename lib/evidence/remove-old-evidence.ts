import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "#db/client.ts";
import {
  deleteEvidence,
  type EvidencePosition,
  isInDatabase,
  listOldEvidence,
  type OldEvidence,
  type OldEvidencePage,
} from "./evidence-store.ts";

/**
 * The result of a batch. `removed` is the number of deleted rows. `failed` lists the rows that remain because their
 * files could not be removed.
 */
type RemovalResult = {
  removed: number;
  /** The position of the batch's last row; the next batch starts after it. Null if there are no more rows. */
  next: EvidencePosition | null;
  failed: (Pick<OldEvidence, "id" | "sessionId"> & { error: unknown })[];
};

/**
 * Removes a batch of evidence that was created before a time. Skips sessions that have an open run. Each file is
 * removed before its row, so a crash leaves no file without a row.
 *
 * @param dataDir undefined if this process stores nothing on disk. Rows whose bytes are in files are then kept.
 * @param isAlone whether this process is the only one that uses the database. If other processes use it, a file that is
 * missing here may be in the data folder of another process, so the file's row is kept.
 */
export async function removeOldEvidence(
  { db, dataDir, isAlone }: { db: Database; dataDir: string | undefined; isAlone: boolean },
  page: OldEvidencePage,
): Promise<RemovalResult> {
  const rows = await listOldEvidence(db, { ...page, hasFiles: dataDir !== undefined });
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

/** Removes a file. @returns false if it does not exist. @throws Error if it cannot be removed. */
async function removeFile(path: string): Promise<boolean> {
  try {
    await rm(path);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
