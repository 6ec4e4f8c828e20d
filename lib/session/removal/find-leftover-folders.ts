import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { readErrorCode } from "./remove-folder.ts";

/**
 * Finds the subfolders of the data folder, such as `workspaces` and `evidence`, that have an entry for this session. It
 * checks all subfolders, so that folders of future features are included. A folder of another user that this process
 * must not enter, such as `lost+found` of a mounted volume, contains no files of the service and is skipped.
 */
export async function findLeftoverFolders(dataDir: string, sessionId: string): Promise<string[]> {
  const entries = await readdir(dataDir, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const found = await Promise.all(folders.map((name) => hasEntry(join(dataDir, name), sessionId)));
  return folders.filter((_, index) => found[index]);
}

async function hasEntry(folder: string, name: string): Promise<boolean> {
  try {
    await lstat(join(folder, name));
    return true;
  } catch (error) {
    const code = readErrorCode(error);
    if (code === "ENOENT" || (code === "EACCES" && (await belongsToOther(folder)))) return false;
    throw error;
  }
}

const belongsToOther = async (folder: string) => (await stat(folder)).uid !== process.geteuid?.();
