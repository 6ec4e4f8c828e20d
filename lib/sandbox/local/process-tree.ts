import { readdir, readFile, readlink, stat } from "node:fs/promises";

/** Size of a memory page on Linux; the same on all machines except arm64 kernels with large pages. */
const PAGE_BYTES = 4_096;
const DELETED = " (deleted)";
const MEMORY_FILE = "/memfd:";

/** Whether this system lists the children of a process. `readProcessTree` needs these lists. */
export const canReadProcessTree = (): Promise<boolean> =>
  readFile(`/proc/self/task/${process.pid}/children`).then(
    () => true,
    () => false,
  );

/**
 * Lists a process and its descendants. A process that ends during the read may still be in the list. In a PID
 * namespace, orphans become children of the namespace's first process, so they stay in this tree.
 */
export async function readProcessTree(root: number): Promise<number[]> {
  const pids = [root];
  for (const pid of pids) {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
    const lists = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, "utf8").catch(() => "")),
    );
    for (const child of lists.join(" ").split(/\s+/)) if (child !== "") pids.push(Number(child));
  }
  return pids;
}

/**
 * Reads the total memory of processes in bytes. Reads a cheap sum first, in which a shared page counts once for each
 * process. If that sum exceeds `exactAboveBytes`, reads the exact sum, in which a shared page counts once.
 */
export async function readMemory(pids: number[], exactAboveBytes: number): Promise<number> {
  const resident = await sum(pids, async (pid) => {
    const statm = await readFile(`/proc/${pid}/statm`, "utf8");
    return Number(statm.split(" ")[1]) * PAGE_BYTES;
  });
  if (resident <= exactAboveBytes) return resident;
  return sum(pids, async (pid) => {
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1_024;
  });
}

/**
 * Returns the bytes that processes and their ended children have written to disk since they started. Files that were
 * removed count; writes to a file system in memory do not.
 */
export const readWrittenBytes = (pids: number[]): Promise<number> =>
  sum(pids, async (pid) => {
    const io = await readFile(`/proc/${pid}/io`, "utf8");
    return Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0);
  });

/**
 * Returns the bytes on disk of deleted files that processes have open or mapped. Only files on `device` count. Walking
 * a folder does not find such files.
 */
export async function readUnlinkedBytes(pids: number[], device: number): Promise<number> {
  const files = new Map<number, number>();
  const addFile = (inode: number, bytes: number) => files.set(inode, Math.max(bytes, files.get(inode) ?? 0));
  await Promise.all(
    pids.map(async (pid) => {
      for (const name of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
        const path = `/proc/${pid}/fd/${name}`;
        if (!(await readlink(path).catch(() => "")).endsWith(DELETED)) continue;
        const file = await stat(path).catch(() => undefined);
        if (file?.dev === device && file.nlink === 0) addFile(file.ino, file.blocks * 512);
      }
      for (const { inode, bytes } of await readUnlinkedMaps(pid, device)) addFile(inode, bytes);
    }),
  );
  return [...files.values()].reduce((total, bytes) => total + bytes, 0);
}

/**
 * Returns the bytes of unnamed files in memory (memfd) that processes have open. The resident size of a process
 * includes such a file only if it is mapped.
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

/**
 * Lists deleted files that a process has mapped. Such a file may have no open descriptor. The end of the mapped range
 * in the file approximates the size of the file.
 */
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

/** The major and minor parts of a device number as `stat` returns it (glibc's encoding). */
const majorOf = (device: number) => Math.floor(device / 256) % 4_096;
const minorOf = (device: number) => (device % 256) + Math.floor(device / 2 ** 20) * 256;

async function sum(pids: number[], read: (pid: number) => Promise<number>): Promise<number> {
  const values = await Promise.all(pids.map((pid) => read(pid).catch(() => 0)));
  return values.reduce((total, value) => total + value, 0);
}
