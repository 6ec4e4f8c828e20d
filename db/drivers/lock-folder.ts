import { readFileSync } from "node:fs";
import { open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Another live process owns the folder. */
export class DatabaseLockedError extends Error {
  constructor(folder: string, pid: number) {
    super(
      `the data folder ${folder} is in use by process ${pid}; stop it, or give this one another DATA_DIR`,
    );
    this.name = "DatabaseLockedError";
  }
}

type Owner = { pid: number; startedAt: string };

/**
 * Takes the folder for this process by `owner.lock` (created exclusively, holding pid and start time); a lock whose
 * process is gone is taken over.
 *
 * @returns a function that gives the folder back.
 * @throws DatabaseLockedError when its owner lives.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, "owner.lock");
  for (let attempt = 0; attempt < 3; attempt++) {
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
    await unlink(path).catch(ignoreMissing);
  }
  throw new Error(`the lock of ${folder} keeps changing hands`);
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Owner;
  } catch {
    // Empty or cut off: its writer died between creating and filling it.
    return undefined;
  }
}

/** A killed process may linger as a zombie and still answer signal 0, and a pid may be given anew: compare both. */
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

/** The kernel's start time of a process, or "" where it is a zombie, gone, or the system has no /proc. */
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
