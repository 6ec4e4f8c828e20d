import { readdirSync, readFileSync } from "node:fs";
import { sum } from "./statistics.ts";

/** CPU time that a live process has used so far, all threads, in milliseconds. Linux only: reads /proc. */
export function readCpuMs(pid: number): number {
  // Finer than the clock ticks of `stat`, and enough, as Node keeps its threads.
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((total, thread) => total + readThreadNs(pid, thread), 0) / 1e6;
}

function readThreadNs(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  } catch {
    return 0;
  }
}

/** Memory in MB, what is shared counted once (PSS): of a process and its descendants, and of the largest. Linux only. */
export function readMemoryMb(pid: number): { all: number; largest: number; processes: number } {
  const each = [pid, ...descendantsOf(pid)].map((member) => {
    const text = readText(`/proc/${member}/smaps_rollup`);
    return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
  });
  return { all: sum(each), largest: Math.max(...each), processes: each.length };
}

function descendantsOf(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    // The command's name, in brackets, may hold anything.
    .filter((name) => Number(readText(`/proc/${name}/stat`).split(") ")[1]?.split(" ")[1]) === pid)
    .map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
