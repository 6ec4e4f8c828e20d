import { readdir, readFile, readlink, stat } from "node:fs/promises";

/** Pages that Linux counts memory in; the same on every machine Node 24 runs on, except large-page arm64 kernels. */
const PAGE_BYTES = 4_096;
const DELETED = " (deleted)";
const MEMORY_FILE = "/memfd:";

/** Whether this system tells the children of a process, on which the functions below rely. */
export const canReadProcessTree = (): Promise<boolean> =>
  readFile(`/proc/self/task/${process.pid}/children`).then(
    () => true,
    () => false,
  );

/**
 * A process and its descendants. In a PID namespace none escapes: orphans become children of the namespace's first
 * process. Processes that end meanwhile are left out.
 */
export async function readProcessTree(root: number): Promise<number[]> {
  const found = [root];
  for (const pid of found) {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    const lists = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8").catch(() => "")),
    );
    for (const child of lists.join(" ").split(/\s+/)) if (child !== "") found.push(Number(child));
  }
  return found;
}

/**
 * Memory of processes together, in bytes. Pages that several of them share are counted once, as far as it matters:
 * the exact sum is read only when the cheap one, which counts shared pages for each, exceeds `ofInterest`.
 */
export async function readMemory(pids: number[], ofInterest: number): Promise<number> {
  const resident = await sum(pids, async (pid) => {
    const statm = await readFile(`/proc/${pid}/statm`, "utf8");
    return Number(statm.split(" ")[1]) * PAGE_BYTES;
  });
  if (resident <= ofInterest) return resident;
  return sum(pids, async (pid) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1_024;
  });
}

/**
 * Bytes that processes have written to disks since they began, those of their ended children included; a file that was
 * written and removed counts too. What is written to a file system in memory does not.
 */
export const readWrittenBytes = (pids: number[]): Promise<number> =>
  sum(pids, async (pid) => {
    const io = await readFile(`/proc/${pid}/io`, "utf8");
    return Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
  });

/**
 * Bytes on disk of files on one device that have no name any more but are open in these processes, or mapped into them.
 * No walk of a folder finds such a file.
 */
export async function readUnlinkedBytes(pids: number[], device: number): Promise<number> {
  const files = new Map<number, number>();
  const note = (inode: number, bytes: number) => files.set(inode, Math.max(bytes, files.get(inode) ?? 0));
  await Promise.all(
    pids.map(async (pid) => {
      for (const name of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
        const path = `/proc/${pid}/fd/${name}`;
        if (!(await readlink(path).catch(() => "")).endsWith(DELETED)) continue;
        const file = await stat(path).catch(() => undefined);
        if (file?.dev === device && file.nlink === 0) note(file.ino, file.blocks * 512);
      }
      for (const { inode, bytes } of await readUnlinkedMaps(pid, device)) note(inode, bytes);
    }),
  );
  return [...files.values()].reduce((total, bytes) => total + bytes, 0);
}

/**
 * Bytes of files without a name that lie in memory (memfd) and are open in these processes: no resident size has them
 * unless they are mapped.
 */
export async function readMemoryFileBytes(pids: number[]): Promise<number> {
  const files = new Map<string, number>();
  await Promise.all(
    pids.map(async (pid) => {
      for (const name of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
        const path = `/proc/${pid}/fd/${name}`;
        if (!(await readlink(path).catch(() => "")).startsWith(MEMORY_FILE)) continue;
        const file = await stat(path).catch(() => undefined);
        if (file) files.set(`${file.dev} ${file.ino}`, file.blocks * 512);
      }
    }),
  );
  return [...files.values()].reduce((total, bytes) => total + bytes, 0);
}

/** Deleted files that a process has mapped: a mapping outlives its descriptor. The mapped range is what is known of their size. */
async function readUnlinkedMaps(pid: number, device: number): Promise<{ inode: number; bytes: number }[]> {
  const maps = await readFile(`/proc/${pid}/maps`, "utf8").catch(() => "");
  return maps.split("\n").flatMap((line) => {
    if (!line.endsWith(DELETED)) return [];
    const [range = "", , offset = "0", mapped = "", inode = "0"] = line.split(/\s+/);
    const [major = 0, minor = 0] = mapped.split(":").map((part) => Number.parseInt(part, 16));
    if (major !== majorOf(device) || minor !== minorOf(device)) return [];
    const [from = 0, to = 0] = range.split("-").map((part) => Number.parseInt(part, 16));
    return [{ inode: Number(inode), bytes: Number.parseInt(offset, 16) + to - from }];
  });
}

/** The parts of a device number as `stat` gives it (glibc's encoding). */
const majorOf = (device: number) => Math.floor(device / 256) % 4_096;
const minorOf = (device: number) => (device % 256) + Math.floor(device / 2 ** 20) * 256;

async function sum(pids: number[], read: (pid: number) => Promise<number>): Promise<number> {
  const values = await Promise.all(pids.map((pid) => read(pid).catch(() => 0)));
  return values.reduce((total, value) => total + value, 0);
}
