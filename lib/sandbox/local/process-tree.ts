import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setImmediate as runOtherWork } from "node:timers/promises";

// The reads are synchronous: the kernel answers most of them from memory in a few microseconds, and a running command
// causes thousands in a second. Passing each to a thread takes ten times as much processor time.

/** Size of a memory page on Linux; the same on all machines except arm64 kernels with large pages. */
const PAGE_BYTES = 4_096;
const DELETED = " (deleted)";
const MEMORY_FILE = "/memfd:";
/** After this number of reads, which take about a millisecond, other work of this process may run. */
const READS_AT_ONCE = 200;
const mapsBuffer = Buffer.alloc(64 * 1_024);

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
  const pause = createPause();
  for (const pid of pids) {
    for (const thread of listNames(`/proc/${pid}/task`)) {
      const children = readText(`/proc/${pid}/task/${thread}/children`) ?? "";
      for (const child of children.split(" ")) if (child !== "") pids.push(Number(child));
      await pause();
    }
  }
  return pids;
}

/**
 * Reads the total memory of processes in bytes. Reads a cheap sum first, in which a shared page counts once for each
 * process. If that sum exceeds `exactAboveBytes`, reads the exact sum, in which a shared page counts once.
 */
export async function readMemory(pids: number[], exactAboveBytes: number): Promise<number> {
  const resident = await sum(pids, (pid) => {
    const statm = readText(`/proc/${pid}/statm`) ?? "";
    return Number(statm.split(" ")[1] ?? 0) * PAGE_BYTES;
  });
  if (resident <= exactAboveBytes) return resident;
  return sum(pids, async (pid) => {
    // The kernel visits all pages of the process, which can take long.
    const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
    return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) * 1_024;
  });
}

/**
 * Returns the bytes that processes and their ended children have written to disk since they started. Files that were
 * removed count; writes to a file system in memory do not.
 */
export const readWrittenBytes = (pids: number[]): Promise<number> =>
  sum(pids, (pid) => Number(/^write_bytes: (\d+)/m.exec(readText(`/proc/${pid}/io`) ?? "")?.[1] ?? 0));

/** Bytes of files without a name. Walking a folder does not find such files. */
type UnnamedBytes = {
  /** Bytes on disk of deleted files that processes have open or mapped. */
  onDisk: number;
  /**
   * Bytes of files in memory (memfd) that processes have open. The resident size of a process includes such a file only
   * if it is mapped.
   */
  inMemory: number;
};

/**
 * Measures the files without a name that processes use.
 *
 * @param device the device whose deleted files count.
 */
export async function readUnnamedBytes(pids: number[], device: number): Promise<UnnamedBytes> {
  const onDisk = new Map<number, number>();
  const inMemory = new Map<string, number>();
  const pause = createPause();
  const addDeleted = (inode: number, bytes: number) =>
    onDisk.set(inode, Math.max(bytes, onDisk.get(inode) ?? 0));
  for (const pid of pids) {
    for (const name of listNames(`/proc/${pid}/fd`)) {
      await pause();
      const path = `/proc/${pid}/fd/${name}`;
      const target = readTarget(path);
      const isMemory = target.startsWith(MEMORY_FILE);
      if (!isMemory && !target.endsWith(DELETED)) continue;
      const file = statSync(path, { throwIfNoEntry: false });
      if (file === undefined) continue;
      if (isMemory) inMemory.set(`${file.dev} ${file.ino}`, file.blocks * 512);
      else if (file.dev === device && file.nlink === 0) addDeleted(file.ino, file.blocks * 512);
    }
    for (const { inode, bytes } of await readDeletedMaps(pid, device)) addDeleted(inode, bytes);
  }
  return { onDisk: total(onDisk.values()), inMemory: total(inMemory.values()) };
}

/**
 * Lists deleted files that a process has mapped. Such a file may have no open descriptor. The end of the mapped range
 * in the file approximates the size of the file.
 */
async function readDeletedMaps(pid: number, device: number): Promise<{ inode: number; bytes: number }[]> {
  const maps = await readMaps(pid);
  return maps.flatMap((line) => {
    const [range = "", , offset = "0", mapped = "", inode = "0"] = line.split(/\s+/);
    const [major = 0, minor = 0] = mapped.split(":").map((part) => Number.parseInt(part, 16));
    if (major !== majorOf(device) || minor !== minorOf(device)) return [];
    const [from = 0, to = 0] = range.split("-").map((part) => Number.parseInt(part, 16));
    return [{ inode: Number(inode), bytes: Number.parseInt(offset, 16) + to - from }];
  });
}

/** Reads the lines of a process's memory map that name a deleted file. A browser's map has thousands of lines. */
async function readMaps(pid: number): Promise<string[]> {
  const lines: string[] = [];
  const pause = createPause();
  let file: number | undefined;
  let rest = "";
  try {
    file = openSync(`/proc/${pid}/maps`, "r");
    // The kernel gives a page of text for each read.
    for (let length = readSync(file, mapsBuffer); length > 0; length = readSync(file, mapsBuffer)) {
      const text = rest + mapsBuffer.toString("latin1", 0, length);
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      if (text.includes(DELETED))
        lines.push(
          ...text
            .slice(0, end)
            .split("\n")
            .filter((line) => line.endsWith(DELETED)),
        );
      await pause();
    }
  } catch {
    // The process has ended.
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return lines;
}

/** The major and minor parts of a device number as `stat` returns it (glibc's encoding). */
const majorOf = (device: number) => Math.floor(device / 256) % 4_096;
const minorOf = (device: number) => (device % 256) + Math.floor(device / 2 ** 20) * 256;

async function sum(pids: number[], read: (pid: number) => number | Promise<number>): Promise<number> {
  const pause = createPause();
  let bytes = 0;
  for (const pid of pids) {
    bytes += await read(pid);
    await pause();
  }
  return bytes;
}

const total = (values: Iterable<number>) => [...values].reduce((all, value) => all + value, 0);

/** Returns a function to call after each read: lets other work run after every {@link READS_AT_ONCE} calls. */
function createPause(): () => Promise<void> | undefined {
  let reads = 0;
  return () => (++reads % READS_AT_ONCE === 0 ? runOtherWork() : undefined);
}

// A process can end at any time. Its files in /proc then do not exist.

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

/** Whether a process with this id exists, of whatever user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that the process exists and runs as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
