import { randomBytes } from "node:crypto";
import { constants, existsSync } from "node:fs";
import { access, mkdir, open, readFile, statfs, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "#lib/disk/durable.ts";

/** Minimum free space. The write-ahead log of the embedded database grows by files of up to this size. */
const FREE_BYTES_MIN = 16 * 2 ** 20;

/**
 * Checks that a folder can be written and that its disk has space.
 *
 * @returns the problem as a phrase, such as `cannot be written (EROFS)`; undefined if there is no problem.
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
 * Creates the data folder if it is missing.
 *
 * @throws Error with a readable message if the folder cannot be written, or if its disk is full.
 */
async function prepareDataFolder(folder: string): Promise<void> {
  const failure = await mkdir(folder, { recursive: true }).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
  // If the folder cannot be created, check its parent: Node's error does not say that the parent is read-only.
  const problem = await findFolderProblem(failure ? findExisting(folder) : folder);
  if (problem) throw folderError(folder, problem, failure);
  if (failure) throw folderError(folder, `cannot be created (${failure.code})`, failure);
}

/** Returns the folder itself, or its nearest existing ancestor. */
function findExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));
}

/** Returns an error about the data folder if the folder is the cause of `error`; otherwise returns `error` itself. */
export async function explainByFolder(folder: string, error: unknown): Promise<unknown> {
  const problem = await findFolderProblem(folder);
  return problem ? folderError(folder, problem, error) : error;
}

const folderError = (folder: string, problem: string, cause: unknown): Error =>
  new Error(`DATA_DIR: ${folder} ${problem}; make room there, or name another folder`, { cause });

/** Secrets that the service generates once and stores in the data folder. */
type GeneratedSecrets = { encryptionKey: Buffer; apiKey: string };

/**
 * Reads the generated secrets of a data folder, and creates missing ones. Only the owner of the files can read them.
 */
export async function readOrCreateSecrets(dataDir: string): Promise<GeneratedSecrets> {
  await prepareDataFolder(dataDir);
  const key = await readOrCreate(join(dataDir, "encryption-key"), () => randomBytes(32).toString("base64"));
  const apiKey = await readOrCreate(
    join(dataDir, "api-key"),
    () => `local_${randomBytes(24).toString("base64url")}`,
  );
  const encryptionKey = Buffer.from(key, "base64");
  if (encryptionKey.byteLength !== 32)
    throw new Error(`${join(dataDir, "encryption-key")} does not hold 32 bytes in base64`);
  return { encryptionKey, apiKey };
}

/** Reads the text of a file. If the file does not exist, creates it with the result of `generate`. */
async function readOrCreate(path: string, generate: () => string): Promise<string> {
  try {
    const file = await open(path, "wx", 0o600);
    const text = generate();
    try {
      await file.writeFile(`${text}\n`);
      await file.sync();
    } catch (error) {
      // Remove the file, so that the next start does not read a partial secret.
      await unlink(path);
      throw error;
    } finally {
      await file.close();
    }
    // A key that a power failure removes would make everything unreadable that was encrypted with it.
    await syncFolder(dirname(path));
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return (await readFile(path, "utf8")).trim();
  }
}
