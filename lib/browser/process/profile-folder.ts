import { randomBytes } from "node:crypto";
import { chown, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { SandboxUser } from "#lib/isolation/sandbox-users.ts";

/**
 * The content of the JSON file that records a browser. After a crash of the service, the next start reads this file to
 * end the browser and to remove its folder.
 */
type ProfileRecord = {
  profileDir: string;
  pid?: number;
  startedAt?: string | undefined;
  /** The process that started the browser. */
  owner?: ProcessMark;
};
type ProcessMark = { pid: number; startedAt: string | undefined };

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
  const owner = { pid: process.pid, startedAt: await readStartTime(process.pid) };
  const write = (record: ProfileRecord) => writeFile(recordPath, JSON.stringify({ ...record, owner }));
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
 * everything else in `folder`. Browsers of another process that still runs stay: two hosts may start at the same time.
 * @returns the number of browsers ended.
 */
export async function sweepBrowsers(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  let ended = 0;
  const names = await readdir(folder);
  const records = await Promise.all(
    names.flatMap((name) =>
      name.endsWith(".json") ? [readRecord(join(folder, name)).then((record) => ({ name, record }))] : [],
    ),
  );
  const staying = new Set<string>();
  for (const { name, record } of records) {
    const isUsed = record !== undefined && (await isRunningElsewhere(record.owner));
    if (isUsed) for (const each of [name, name.replace(/\.json$/, "")]) staying.add(each);
  }
  const found = new Map(records.map(({ name, record }) => [name, record]));
  for (const name of names) {
    if (staying.has(name)) continue;
    const record = found.get(name);
    if (record) {
      const pid = await findProcess(record);
      if (pid !== undefined && killGroup(pid)) ended += 1;
      if (!(await removeFolder(record.profileDir))) continue;
    }
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => {});
  }
  return ended;
}

/** Whether another process than this one is the owner of a browser, and runs. A process that was stopped does not run. */
async function isRunningElsewhere(owner: ProcessMark | undefined): Promise<boolean> {
  if (owner?.startedAt === undefined || owner.pid === process.pid) return false;
  const fields = await readStatFields(owner.pid);
  return fields?.[19] === owner.startedAt && !/^[TtZX]$/.test(fields[0] ?? "");
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
    const { pid, startedAt, profileDir, owner } = record as Partial<ProfileRecord>;
    // A damaged record must not cause the removal of an unrelated folder.
    if (typeof profileDir !== "string" || !/agent-browser-[^/\\]+$/.test(profileDir)) return undefined;
    const owned = typeof owner?.pid === "number" ? { profileDir, owner } : { profileDir };
    return typeof pid === "number" ? { ...owned, pid, startedAt } : owned;
  } catch {
    return undefined;
  }
}

/** Returns the start time of a process in clock ticks since boot. Undefined if `/proc` does not contain the process. */
const readStartTime = async (pid: number): Promise<string | undefined> => (await readStatFields(pid))?.[19];

/** Returns the fields of `/proc/<pid>/stat` from the state on. Undefined if there is no such process. */
async function readStatFields(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The command name before them is in parentheses and may contain spaces.
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

async function isOpenToAll(folder: string): Promise<boolean> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
