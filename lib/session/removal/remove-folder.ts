import { randomUUID } from "node:crypto";
import { chmod, lstat, rename, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "#lib/disk/durable.ts";
import { joinBytes, listFolder } from "#lib/disk/file-name.ts";

/**
 * Thrown if a part of a folder could not be removed. The message contains no path, so it is safe to show to a caller.
 */
export class RemovalError extends Error {
  constructor(cause: unknown) {
    super(`a file or folder could not be removed (${readErrorCode(cause) ?? "unknown error"})`, { cause });
    this.name = "RemovalError";
  }
}

/**
 * The result of one pass over the folder's first level: whether anything was removed or moved, and the failure to
 * report.
 */
type Pass = { hasProgress: boolean; failure: unknown };

const AT_ONCE = 64;
/**
 * Whether this process runs as root. Root does not change permissions, because it needs none, and because its `chmod`
 * could affect files of other users.
 */
const isRoot = process.getuid?.() === 0;

/**
 * Removes a folder with all its contents. Resolves when the folder is removed or does not exist. Paths inside may be
 * longer than PATH_MAX, because each inner folder is moved to the first level before it is emptied. Names may be any
 * bytes, also if they are not UTF-8. Symbolic links are removed, not followed.
 *
 * @throws RemovalError after removing everything that can be removed.
 */
export async function removeFolder(folder: string): Promise<void> {
  const stat = await lstat(folder).catch((error: unknown) => {
    if (readErrorCode(error) !== "ENOENT") throw new RemovalError(error);
  });
  if (!stat) return;
  for (;;) {
    const pass: Pass = { hasProgress: false, failure: undefined };
    if (stat.isDirectory()) await emptyFirstLevel(folder, pass);
    try {
      await (stat.isDirectory() ? rmdir(folder) : unlink(folder));
      // Without this, a power failure could bring the content back after its removal was recorded.
      await syncFolder(dirname(folder));
      return;
    } catch (error) {
      if (readErrorCode(error) === "ENOENT") return;
      // The next pass empties the folders that this pass moved to the first level. If this pass changed nothing, the
      // next one would not either.
      if (!pass.hasProgress) throw new RemovalError(pass.failure ?? error);
    }
  }
}

const emptyFirstLevel = (folder: string, pass: Pass): Promise<void> =>
  forEachEntry(folder, pass, async (path, isFolder) => {
    if (!isFolder) return attempt(pass, () => unlink(path));
    await forEachEntry(path, pass, async (inner, isInnerFolder) => {
      if (!isInnerFolder) return attempt(pass, () => unlink(inner));
      // Moving a folder needs write permission on the folder itself, because its `..` entry changes.
      await open(inner, pass);
      await attempt(pass, () => rename(inner, join(folder, randomUUID())));
    });
    await attempt(pass, () => rmdir(path));
  });

async function forEachEntry(
  folder: string | Buffer,
  pass: Pass,
  visit: (path: Buffer, isFolder: boolean) => Promise<void>,
): Promise<void> {
  await open(folder, pass);
  try {
    let group: Promise<void>[] = [];
    for await (const entry of listFolder(folder)) {
      group.push(visit(joinBytes(folder, entry.name), entry.isDirectory()));
      if (group.length < AT_ONCE) continue;
      await Promise.all(group);
      group = [];
    }
    await Promise.all(group);
  } catch (error) {
    recordFailure(pass, error);
  }
}

/** Gives the current user access to a folder, because a shell command may have removed the permission. */
async function open(folder: string | Buffer, pass: Pass): Promise<void> {
  if (!isRoot) await chmod(folder, 0o700).catch((error: unknown) => recordFailure(pass, error));
}

async function attempt(pass: Pass, step: () => Promise<void>): Promise<void> {
  try {
    await step();
    pass.hasProgress = true;
  } catch (error) {
    recordFailure(pass, error);
  }
}

/**
 * Records the failure to report. ENOTEMPTY replaces no other failure, because it only results from a failure inside.
 */
function recordFailure(pass: Pass, error: unknown): void {
  const code = readErrorCode(error);
  if (code === "ENOENT") return;
  if (code !== "ENOTEMPTY" || pass.failure === undefined) pass.failure = error;
}

/** Returns the code of a file system error. */
export function readErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
