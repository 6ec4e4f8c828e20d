import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Database } from "#db/client.ts";
import { deleteEvidence, isInDatabase, listOldEvidence, type OldEvidence } from "./evidence-store.ts";

/** What a batch did: the rows that are gone, and evidence whose file could not be removed, which keeps its row. */
type RemovedEvidence = {
  removed: number;
  failed: (Pick<OldEvidence, "id" | "sessionId"> & { error: unknown })[];
};

/**
 * Removes a batch of evidence that was made before a time, in sessions without an open run. A file is removed before its
 * row: after a crash the row names what is still to be removed. Each file is looked for again before its row goes.
 *
 * @param dataDir undefined where nothing is kept on disk; rows of files are then left alone.
 */
export async function removeOldEvidence(
  { db, dataDir }: { db: Database; dataDir: string | undefined },
  before: Date,
  limit: number,
): Promise<RemovedEvidence> {
  const gone: OldEvidence[] = [];
  const failed: RemovedEvidence["failed"] = [];
  for (const row of await listOldEvidence(db, before, limit)) {
    try {
      if (!isInDatabase(row.path)) {
        if (dataDir === undefined) continue;
        await removeFile(join(dataDir, row.path));
      }
      gone.push(row);
    } catch (error) {
      failed.push({ id: row.id, sessionId: row.sessionId, error });
    }
  }
  return { removed: gone.length > 0 ? await deleteEvidence(db, gone) : 0, failed };
}

/** @throws Error when the file is still there. */
async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
  const found = await stat(path, { throwIfNoEntry: false });
  if (found) throw new Error("the file is still there");
}
