import { chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

/** Who the browser's processes run as. */
export type Account = { uid: number; gid: number };

/** What is kept about a running browser, so that a later start of the service can clear up after this one. */
type ProcessRecord = { pid: number; startedAt: string | undefined; profileDir: string };

/** Makes an empty profile folder: below `folder`, or below the system's temporary one where `account` cannot go there. */
export async function makeProfileFolder(folder: string, account: Account | undefined): Promise<string> {
  await mkdir(folder, { recursive: true });
  const base = account && !(await isOpenToAll(folder)) ? tmpdir() : folder;
  const profileDir = await mkdtemp(join(base, "agent-browser-"));
  if (account) await chown(profileDir, account.uid, account.gid);
  return profileDir;
}

/** Removes a profile folder; files that dying processes still write are waited for. Never rejects. */
export async function removeProfileFolder(profileDir: string): Promise<void> {
  await rm(profileDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }).catch(() => {});
}

/** Writes down a running browser. @returns the way to strike it out. */
export async function recordProcess(
  folder: string,
  pid: number,
  profileDir: string,
): Promise<() => Promise<void>> {
  const path = join(folder, `${pid}.json`);
  const record: ProcessRecord = { pid, startedAt: await readStartTime(pid), profileDir };
  await writeFile(path, JSON.stringify(record));
  return () => rm(path, { force: true });
}

/**
 * Ends the browsers that an earlier process of this service left behind, and removes their folders. A process is
 * known by its id and its start time, so that a stranger with a recycled id is left alone.
 * @returns how many were ended.
 */
export async function sweepBrowsers(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true });
  let ended = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const record = name.endsWith(".json") ? await readRecord(path) : undefined;
    if (record) {
      const isSame = record.startedAt !== undefined && record.startedAt === (await readStartTime(record.pid));
      if (isSame && killGroup(record.pid)) ended += 1;
      await removeProfileFolder(record.profileDir);
    }
    await rm(path, { recursive: true, force: true }).catch(() => {});
  }
  return ended;
}

/** Kills a process group at once. @returns whether there was one. */
export function killGroup(pid: number): boolean {
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

async function readRecord(path: string): Promise<ProcessRecord | undefined> {
  try {
    const record: unknown = JSON.parse(await readFile(path, "utf8"));
    if (typeof record !== "object" || record === null) return undefined;
    const { pid, startedAt, profileDir } = record as Partial<ProcessRecord>;
    // A damaged file must not lead to the removal of something else.
    if (
      typeof pid !== "number" ||
      typeof profileDir !== "string" ||
      !/agent-browser-[^/\\]+$/.test(profileDir)
    ) {
      return undefined;
    }
    return { pid, startedAt, profileDir };
  } catch {
    return undefined;
  }
}

/** Clock ticks between boot and the start of a process, where the system tells them. */
async function readStartTime(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The command's name, in parentheses, may hold spaces.
  return text?.slice(text.lastIndexOf(")") + 2).split(" ")[19];
}

async function isOpenToAll(folder: string): Promise<boolean> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
