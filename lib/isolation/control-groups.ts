import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LOW_PRIORITY } from "./low-priority.ts";

/** Limits that apply to all processes of a group together. */
export type GroupLimits = { memoryBytesMax: number; processesMax: number; processorsMax: number };

/** A control group of the kernel (cgroup v2). */
export type ControlGroup = {
  /**
   * Path of a file. A process that writes 0 to the file joins the group. The processes that it starts after that are in
   * the group, too.
   */
  joinPath: string;
  /** Reads how many processes of the group the kernel has killed because the group reached its memory limit. */
  readMemoryKills: () => Promise<number>;
};

/** Creates and removes the control groups of one process of the service. */
export type ControlGroups = {
  /** Returns the group with this name; creates it with the limits if it does not exist. */
  open: (name: string, limits: GroupLimits) => Promise<ControlGroup>;
  /** Kills all processes of a group, and removes the group. */
  remove: (name: string) => Promise<void>;
  close: () => Promise<void>;
};

/** The control groups, or the reason why this machine offers none. `reason` is a phrase to insert into a message. */
export type FoundGroups = { works: true; groups: ControlGroups } | { works: false; reason: string };

const PREFIX = "agent-sessions-";
const NEEDED = ["memory", "pids"];
const WANTED = ["memory", "pids", "cpu"];
const CPU_PERIOD_US = 100_000;
const REMOVAL_ATTEMPTS = 50;
const REMOVAL_PAUSE_MS = 20;

/**
 * What the kernel reports about this process: its mounts, control group and id. `readParent` returns the parent of any
 * process.
 */
type Places = { mountInfo: string; own: string; pid: number; readParent: (pid: number) => Promise<number> };

const readPlaces = async (): Promise<Places> => ({
  mountInfo: await readFile("/proc/self/mountinfo", "utf8"),
  own: await readFile("/proc/self/cgroup", "utf8"),
  pid: process.pid,
  readParent,
});

async function readParent(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8");
  // The parent is the second field after the command name, which is in parentheses and may contain spaces.
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
}

/**
 * Prepares control groups below the service's own group or below the group of its systemd unit. Control groups require
 * root or a delegated group (systemd: `Delegate=yes`), and the controllers for memory and processes. While a group
 * contains processes, the kernel does not enable controllers for its subgroups. Therefore, this function moves the
 * service and its parent processes to a new subgroup if necessary. The move fails if the group contains other
 * processes.
 *
 * @returns the control groups, or the reason why they cannot be used.
 */
export async function findControlGroups(read: () => Promise<Places> = readPlaces): Promise<FoundGroups> {
  if (process.platform !== "linux") return { works: false, reason: "not on Linux" };
  try {
    const places = await read();
    const own = findOwnGroup(places);
    if (typeof own !== "string") return { works: false, ...own };
    let reason = "";
    for (const base of candidates(own)) {
      const refusal = await enableControllers(base, places);
      if (refusal === undefined) return { works: true, groups: await openGroups(base, places.pid) };
      reason ||= refusal;
    }
    return { works: false, reason };
  } catch (error) {
    return { works: false, reason: describeError(error) };
  }
}

/** Returns the folder of the group that this process is in, or the reason why that group cannot be used. */
function findOwnGroup({ mountInfo, own }: Places): string | { reason: string } {
  const path = /^0::(.*)$/m.exec(own)?.[1];
  const mount = mountInfo
    .split("\n")
    .map((line) => line.split(" - "))
    .find(([, kind]) => kind?.startsWith("cgroup2 "))?.[0]
    ?.split(" ");
  const [, , , root, mountPoint] = mount ?? [];
  if (path === undefined || root === undefined || mountPoint === undefined)
    return { reason: "the machine has no cgroup v2" };
  if (/(^|\/)session-[^/]+\.scope$/.test(path))
    return {
      reason:
        "the service does not change the group of a login session; start the service as a unit with Delegate=yes",
    };
  const below = relative(root, path);
  return below.startsWith("..") ? { reason: "its own group is not visible" } : join(mountPoint, below);
}

/**
 * Returns the groups to try: the service's own group, and its parent group if that is the group of a systemd unit
 * (`DelegateSubgroup=`).
 */
const candidates = (own: string): string[] =>
  /\.(service|scope)$/.test(dirname(own)) ? [own, dirname(own)] : [own];

/** Enables the controllers for groups below `base`. @returns the reason of a failure; undefined on success. */
async function enableControllers(base: string, places: Places): Promise<string | undefined> {
  const available = await readWords(join(base, "cgroup.controllers"));
  const lacking = NEEDED.filter((name) => !available.includes(name));
  if (lacking.length > 0) return `the controllers ${lacking.join(" and ")} are not available to the service`;
  const path = join(base, "cgroup.subtree_control");
  const wanted = WANTED.filter((name) => available.includes(name));
  const isOn = async () => {
    const on = await readWords(path);
    return wanted.every((name) => on.includes(name));
  };
  const turnOn = () => writeFile(path, wanted.map((name) => `+${name}`).join(" "));
  if (await isOn()) return undefined;
  try {
    await turnOn();
  } catch (error) {
    if (!isBusy(error)) return describeError(error);
    const refusal = await moveToLeaf(base, places);
    if (refusal !== undefined) return refusal;
    await turnOn();
  }
  return undefined;
}

/**
 * Moves the service and its parent processes from the group `base` to a new subgroup of `base`.
 * @returns the reason of a failure; undefined on success.
 */
async function moveToLeaf(base: string, { pid, readParent }: Places): Promise<string | undefined> {
  const family = new Set<number>();
  for (let each = pid; each > 0 && !family.has(each); each = await readParent(each)) family.add(each);
  const members = (await readWords(join(base, "cgroup.procs"))).map(Number);
  if (!members.every((member) => family.has(member)))
    return "other processes are in the service's group; start the service as a unit with Delegate=yes";
  const leaf = join(base, "agent-service");
  await mkdir(leaf, { recursive: true });
  for (const member of members) await writeFile(join(leaf, "cgroup.procs"), String(member));
  return undefined;
}

async function openGroups(base: string, pid: number): Promise<ControlGroups> {
  await sweep(base, pid);
  const root = join(base, `${PREFIX}${pid}`);
  await mkdir(root);
  const available = await readWords(join(base, "cgroup.subtree_control"));
  const isOnByKernel = WANTED.filter((name) => available.includes(name));
  await writeFile(join(root, "cgroup.subtree_control"), isOnByKernel.map((name) => `+${name}`).join(" "));
  // The file does not exist without the controller `cpu`.
  await writeFile(join(root, "cpu.weight.nice"), String(LOW_PRIORITY), { flag: "r+" }).catch(ignoreMissing);
  const open = new Map<string, Promise<ControlGroup>>();

  async function make(name: string, limits: GroupLimits): Promise<ControlGroup> {
    const folder = join(root, name);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "memory.max"), String(limits.memoryBytesMax));
    // The file does not exist on a kernel without swap.
    await writeFile(join(folder, "memory.swap.max"), "0", { flag: "r+" }).catch(ignoreMissing);
    await writeFile(join(folder, "pids.max"), String(limits.processesMax));
    if (isOnByKernel.includes("cpu")) {
      const quotaUs = Math.round(limits.processorsMax * CPU_PERIOD_US);
      await writeFile(join(folder, "cpu.max"), `${quotaUs} ${CPU_PERIOD_US}`);
    }
    return {
      joinPath: join(folder, "cgroup.procs"),
      async readMemoryKills() {
        const text = await readFile(join(folder, "memory.events"), "utf8");
        return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
      },
    };
  }
  return {
    open(name, limits) {
      const existing = open.get(name);
      if (existing) return existing;
      const group = make(name, limits);
      open.set(name, group);
      group.catch(() => open.delete(name));
      return group;
    },
    async remove(name) {
      if (open.delete(name)) await removeGroup(join(root, name));
    },
    async close() {
      await Promise.all([...open.keys()].map((name) => removeGroup(join(root, name))));
      open.clear();
      await removeGroup(root);
    },
  };
}

/**
 * Removes the leftover groups of service processes that no longer run, including an earlier process with the id `pid`.
 */
async function sweep(base: string, pid: number): Promise<void> {
  for (const name of await readdir(base)) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : Number.NaN;
    if (!Number.isInteger(owner) || (owner !== pid && isRunning(owner))) continue;
    for (const inner of await readdir(join(base, name), { withFileTypes: true }))
      if (inner.isDirectory()) await removeGroup(join(base, name, inner.name));
    await removeGroup(join(base, name));
  }
}

/**
 * Kills the processes of a group, and removes the group as soon as they have ended. @throws if the processes have not
 * ended after about a second, or if the group cannot be removed for another reason.
 */
async function removeGroup(folder: string): Promise<void> {
  // Linux before 5.14 has no `cgroup.kill`. In this case, the loop below waits for the processes of the group to end.
  await writeFile(join(folder, "cgroup.kill"), "1", { flag: "r+" }).catch(ignoreMissing);
  for (let attempt = 1; ; attempt++) {
    try {
      await rmdir(folder);
      return;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return;
      if (!isBusy(error) || attempt === REMOVAL_ATTEMPTS)
        throw new Error(`the control group ${basename(folder)} was not removed: ${describeError(error)}`, {
          cause: error,
        });
      await sleep(REMOVAL_PAUSE_MS);
    }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

const readWords = async (path: string): Promise<string[]> =>
  (await readFile(path, "utf8")).split(/\s+/).filter((word) => word !== "");

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
const isBusy = (error: unknown): boolean => codeOf(error) === "EBUSY";
const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}
