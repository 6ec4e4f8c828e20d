import { randomBytes } from "node:crypto";
import { chown, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";

/**
 * The content of the JSON file that records a browser. After a crash of the service, the next start reads this file to
 * end the browser and to remove its folder.
 */
type ProfileRecord = { profileDir: string; pid?: number; startedAt?: string | undefined };

/**
 * The profile folder of one browser. The folder is recorded before it is created, so that a later start of the service
 * can remove it.
 */
type ProfileFolder = {
  path: string;
  /** Records the process that uses the folder. */
  recordProcess: (pid: number) => Promise<void>;
  /** Removes the folder and its record; retries while ending processes still write files. Never rejects. */
  remove: () => Promise<void>;
};

/**
 * Creates an empty profile folder in `folder`, or in the system's temporary folder if `account` cannot reach `folder`.
 */
export async function makeProfileFolder(
  folder: string,
  account: SandboxUser | undefined,
): Promise<ProfileFolder> {
  await mkdir(folder, { recursive: true });
  const base = account && !(await isOpenToAll(folder)) ? tmpdir() : folder;
  const name = `agent-browser-${randomBytes(6).toString("hex")}`;
  const path = resolve(base, name);
  const recordPath = join(folder, `${name}.json`);
  const write = (record: ProfileRecord) => writeFile(recordPath, JSON.stringify(record));
  await write({ profileDir: path });
  // Only the owner can access the folder. `mkdir` fails if the folder already exists.
  await mkdir(path, { mode: 0o700 });
  if (account) await chown(path, account.uid, account.gid);
  return {
    path,
    recordProcess: async (pid) => write({ profileDir: path, pid, startedAt: await readStartTime(pid) }),
    async remove() {
      // If the folder cannot be removed, the record stays, so that the next start of the service retries.
      if (await removeFolder(path)) await rm(recordPath, { force: true }).catch(() => {});
    },
  };
}

/** Removes a folder. @returns whether the folder is gone. */
const removeFolder = (path: string): Promise<boolean> =>
  rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).then(
    () => true,
    () => false,
  );

/**
 * Ends the browsers that an earlier process of this service left behind, and removes their folders. A process is
 * identified by its id and its start time, so that an unrelated process with a recycled id is not killed. Also removes
 * everything else in `folder`.
 * @returns the number of browsers ended.
 */
export async function sweepBrowsers(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  let ended = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const record = name.endsWith(".json") ? await readRecord(path) : undefined;
    if (record) {
      const pid = await findProcess(record);
      if (pid !== undefined && killGroup(pid)) ended += 1;
      if (!(await removeFolder(record.profileDir))) continue;
    }
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
  return ended;
}

/** Kills a process group immediately. @returns whether the process group existed. */
export function killGroup(pid: number): boolean {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

/** Returns the recorded process id if that process is still the browser. Otherwise returns undefined. */
async function findProcess({ pid, startedAt }: ProfileRecord): Promise<number | undefined> {
  if (pid === undefined || startedAt === undefined) return undefined;
  return startedAt === (await readStartTime(pid)) ? pid : undefined;
}

async function readRecord(path: string): Promise<ProfileRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof record !== "object" || record === null) return undefined;
    const { pid, startedAt, profileDir } = record as Partial<ProfileRecord>;
    // A damaged record must not cause the removal of an unrelated folder.
    if (typeof profileDir !== "string" || !/agent-browser-[^/\\]+$/.test(profileDir)) return undefined;
    return typeof pid === "number" ? { profileDir, pid, startedAt } : { profileDir };
  } catch {
    return undefined;
  }
}

/** Returns the start time of a process in clock ticks since boot. Undefined if `/proc` does not contain the process. */
async function readStartTime(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // Counts the fields after the command name, which is in parentheses and may contain spaces.
  return text?.slice(text.lastIndexOf(")") + 2).split(" ")[19];
}

async function isOpenToAll(folder: string): Promise<boolean> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
