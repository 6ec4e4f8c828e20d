import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Thrown if another live process owns the folder. */
export class DatabaseLockedError extends Error {
  constructor(folder: string, pid: number) {
    super(
      `the data folder ${folder} is in use by process ${pid}; stop that process, or set another DATA_DIR`,
    );
    this.name = "DatabaseLockedError";
  }
}

const ATTEMPTS_MAX = 50;
/**
 * How long a process takes at most to write its lock file. An older file that is still incomplete was left by a crash.
 */
const WRITING_MAX_MS = 1_000;

type Owner = { pid: number; startedAt: string };

/**
 * Locks the folder for this process with `owner.lock`, a file that is created exclusively and contains the process id
 * and start time. Takes over a lock whose process has ended.
 *
 * @returns a function that unlocks the folder.
 * @throws DatabaseLockedError when the process that owns the lock is running.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, "owner.lock");
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    try {
      const file = await open(path, "wx");
      await file.writeFile(
        JSON.stringify({ pid: process.pid, startedAt: readStartTime(process.pid) } satisfies Owner),
      );
      await file.close();
      return () => unlink(path).catch(ignoreMissing);
    } catch (error) {
      if (!hasCode(error, "EEXIST")) throw error;
    }
    const owner = await readOwner(path);
    if (owner && isAlive(owner)) throw new DatabaseLockedError(folder, owner.pid);
    if (!owner && (await isBeingWritten(path))) await sleep(WRITING_MAX_MS / 20);
    else await removeStale(path);
  }
  throw new Error(`the data folder ${folder} could not be locked in ${ATTEMPTS_MAX} attempts`);
}

async function isBeingWritten(path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && Date.now() - file.mtimeMs < WRITING_MAX_MS;
}

/**
 * Removes the lock of a process that has ended: renames the file, checks it again and deletes it. If the renamed file
 * is a new lock of another process, it is renamed back.
 */
async function removeStale(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    return ignoreMissing(error);
  }
  const owner = await readOwner(aside);
  if (owner ? isAlive(owner) : await isBeingWritten(aside)) await rename(aside, path);
  else await unlink(aside);
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Owner;
  } catch {
    // The file was removed, or it is incomplete: its owner is still writing it, or died while writing it.
    return undefined;
  }
}

/**
 * Whether the owner of a lock is running. The start times are compared in addition to signal 0, because a zombie
 * accepts the signal too, and the process id may have been reused.
 */
function isAlive(owner: Owner): boolean {
  if (owner.pid === process.pid) return readStartTime(process.pid) === owner.startedAt;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
  const startTime = readStartTime(owner.pid);
  return startTime !== "" ? startTime === owner.startedAt : owner.startedAt === "";
}

/**
 * Reads the start time of a process from the kernel; "" for a process that has ended, and on a system without `/proc`.
 */
function readStartTime(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}

const hasCode = (error: unknown, code: string) =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === code;

const ignoreMissing = (error: unknown) => {
  if (!hasCode(error, "ENOENT")) throw error;
};
