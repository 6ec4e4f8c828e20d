import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Errors of file systems that cannot sync a folder. */
const UNSUPPORTED = ["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/**
 * Writes `<root>/<path>` so that it is either absent or complete, even after a power failure. When the call returns,
 * the file and the folders that lead to it are on disk. Creates missing folders below `root`, which must exist.
 */
export async function writeDurably(root: string, path: string, bytes: Uint8Array): Promise<void> {
  const target = join(root, path);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = `${target}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
    await syncFolders(root, folder);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Syncs a folder, and every folder above it up to `root`, whether new or not: a concurrent write may have created a
 * folder without having synced its parent yet.
 */
export async function syncFolders(root: string, folder: string): Promise<void> {
  const names = relative(root, folder).split(sep).filter(Boolean);
  for (let depth = names.length; depth >= 0; depth--) await syncFolder(join(root, ...names.slice(0, depth)));
}

/** Writes the entries of a folder (new, renamed and removed files) to disk. */
export async function syncFolder(folder: string | Buffer): Promise<void> {
  // Windows has no descriptors of folders.
  if (process.platform === "win32") return;
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    await handle.sync();
  } catch (error) {
    if (!UNSUPPORTED.includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Writes everything to disk that the file system of a folder still has in memory. Node cannot call `syncfs`, so the
 * program `sync` does.
 *
 * @param timeoutMs after which the call fails.
 */
export async function syncFileSystem(folder: string, timeoutMs = 60_000): Promise<void> {
  await run("sync", process.platform === "linux" ? ["-f", "--", folder] : [], { timeout: timeoutMs });
}
