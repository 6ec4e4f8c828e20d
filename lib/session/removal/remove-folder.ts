import { randomUUID } from "node:crypto";
import { chmod, lstat, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Something in a folder could not be removed. The message names no path, so that a caller may be shown it. */
export class RemovalError extends Error {
  constructor(cause: unknown) {
    super(`a file or folder could not be removed (${readErrorCode(cause) ?? "unknown error"})`, { cause });
    this.name = "RemovalError";
  }
}

/** What one pass over the first level achieved, and its latest failure. */
type Pass = { hasProgress: boolean; failure: unknown };

const AT_ONCE = 64;
/** Root needs no permission bits, and the mode of a path is changed only where nothing but the own user's can be hit. */
const isRoot = process.getuid?.() === 0;

/**
 * Removes a folder with everything in it, and resolves only when it is gone; a folder that does not exist is fine.
 * Paths inside may be longer than the system accepts (PATH_MAX): each folder inside is moved up to the first level
 * before it is emptied, so that no path grows by more than two names. Symbolic links are removed, not followed.
 *
 * @throws RemovalError after everything was removed that can be.
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
      return;
    } catch (error) {
      if (readErrorCode(error) === "ENOENT") return;
      // Folders that were moved up are the next pass's work; after a pass without progress there is none.
      if (!pass.hasProgress) throw new RemovalError(pass.failure ?? error);
    }
  }
}

const emptyFirstLevel = (folder: string, pass: Pass): Promise<void> =>
  forEachEntry(folder, pass, async (path, isFolder) => {
    if (!isFolder) return attempt(pass, () => unlink(path));
    await forEachEntry(path, pass, async (inner, isInnerFolder) => {
      if (!isInnerFolder) return attempt(pass, () => unlink(inner));
      // To move a folder is to write to it, as its parent changes.
      await open(inner, pass);
      await attempt(pass, () => rename(inner, join(folder, randomUUID())));
    });
    await attempt(pass, () => rmdir(path));
  });

async function forEachEntry(
  folder: string,
  pass: Pass,
  visit: (path: string, isFolder: boolean) => Promise<void>,
): Promise<void> {
  await open(folder, pass);
  try {
    let group: Promise<void>[] = [];
    for await (const entry of await opendir(folder)) {
      group.push(visit(join(folder, entry.name), entry.isDirectory()));
      if (group.length < AT_ONCE) continue;
      await Promise.all(group);
      group = [];
    }
    await Promise.all(group);
  } catch (error) {
    noteFailure(pass, error);
  }
}

/** A command can close a folder to its own user. */
async function open(folder: string, pass: Pass): Promise<void> {
  if (!isRoot) await chmod(folder, 0o700).catch((error: unknown) => noteFailure(pass, error));
}

async function attempt(pass: Pass, step: () => Promise<void>): Promise<void> {
  try {
    await step();
    pass.hasProgress = true;
  } catch (error) {
    noteFailure(pass, error);
  }
}

/** Keeps the failure that explains the others: a folder is not empty because something in it could not be removed. */
function noteFailure(pass: Pass, error: unknown): void {
  const code = readErrorCode(error);
  if (code === "ENOENT") return;
  if (code !== "ENOTEMPTY" || pass.failure === undefined) pass.failure = error;
}

/** The code of an error of the file system. */
export function readErrorCode(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
