import { constants, existsSync } from "node:fs";
import { access, mkdir, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Below this much free space the embedded database cannot be relied on: its write-ahead log grows in files of up to this size. */
const FREE_BYTES_MIN = 16 * 2 ** 20;

/**
 * Checks that a folder can be written and that its disk has room.
 *
 * @returns the problem as a phrase (`cannot be written (EROFS)`); undefined where there is none.
 */
export async function findFolderProblem(folder: string): Promise<string | undefined> {
  try {
    await access(folder, constants.W_OK);
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    return free < FREE_BYTES_MIN ? `is on a full disk (${Math.floor(free / 2 ** 20)} MiB free)` : undefined;
  } catch (error) {
    return `cannot be written (${(error as NodeJS.ErrnoException).code})`;
  }
}

/**
 * Creates the data folder where it is missing.
 *
 * @throws Error with a sentence when it cannot be written, or its disk is full.
 */
export async function prepareDataFolder(folder: string): Promise<void> {
  const failure = await mkdir(folder, { recursive: true }).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  // Node reports a folder inside a read-only one as missing.
  const problem = await findFolderProblem(failure ? findExisting(folder) : folder);
  if (problem) throw folderError(folder, problem, failure);
  if (failure) throw folderError(folder, `cannot be created (${failure.code})`, failure);
}

/** The folder itself, or the nearest one around it that exists. */
function findExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));
}

/** Replaces an error by a sentence about the data folder, where that is what is wrong. */
export async function explainByFolder(folder: string, error: unknown): Promise<unknown> {
  const problem = await findFolderProblem(folder);
  return problem ? folderError(folder, problem, error) : error;
}

const folderError = (folder: string, problem: string, cause: unknown): Error =>
  new Error(`DATA_DIR: ${folder} ${problem}; make room there, or name another folder`, { cause });
