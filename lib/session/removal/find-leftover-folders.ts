import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readErrorCode } from "./remove-folder.ts";

/**
 * The folders of the data folder that have an entry for this session, such as `workspaces` and `evidence`. Every folder is
 * looked into, so that a new one is checked too.
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
