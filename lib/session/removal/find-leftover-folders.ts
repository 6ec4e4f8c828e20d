import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readErrorCode } from "./remove-folder.ts";

/**
 * Finds the subfolders of the data folder, such as `workspaces` and `evidence`, that have an entry for this session. It
 * checks all subfolders, so that folders of future features are included.
 */
export async function findLeftoverFolders(dataDir: string, sessionId: string): Promise<string[]> {
  const entries = await readdir(dataDir, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const found = await Promise.all(folders.map((name) => exists(join(dataDir, name, sessionId))));
  return folders.filter((_, index) => found[index]);
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return false;
    throw error;
  }
}
