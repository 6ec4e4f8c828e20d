import { readdirSync, readFileSync } from "node:fs";
import { SERVICE_PROGRAM as BUILT_PROGRAM } from "#lib/setup/build-service.mjs";
import { SERVICE_PROGRAM } from "../fixtures/service.ts";

/**
 * Reads the CPU time, in milliseconds, that all threads of a live process have used so far. Reads /proc, so it works
 * only on Linux.
 */
export function readCpuMs(pid: number): number {
  // Sums the CPU times of the threads, because `schedstat` of a thread is more precise than the clock ticks in `stat`.
  // No thread is missing from the sum, because Node does not end its threads.
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((total, thread) => total + readThreadNs(pid, thread), 0) / 1e6;
}

/**
 * Reads the CPU time of a live process and its live descendants, in milliseconds. Descendants that have ended are not
 * included.
 */
export const readTreeCpuMs = (pid: number): number =>
  [pid, ...descendantsOf(pid)].reduce((total, member) => total + readCpuMs(member), 0);

/** Returns the process id of a process's parent; 0 if the process has no parent or has ended. */
export const readParent = (pid: number): number =>
  Number(readText(`/proc/${pid}/stat`).split(") ")[1]?.split(" ")[1] ?? 0);

function readThreadNs(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  } catch {
    return 0;
  }
}

/**
 * Reads the memory of one process in MB (PSS). Memory that several processes share is divided between them. Linux only.
 */
export const readMemoryMb = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readText(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024;

/**
 * Reads the memory of a process and its descendants in MB (PSS), by kind of process. Shared memory counts only once.
 * Linux only.
 */
export function listMemoryMb(pid: number): Record<string, number> {
  const byKind: Record<string, number> = {};
  for (const member of [pid, ...descendantsOf(pid)]) {
    const kind = nameKind(readText(`/proc/${member}/cmdline`));
    byKind[kind] = (byKind[kind] ?? 0) + readMemoryMb(member);
  }
  return byKind;
}

function nameKind(command: string): string {
  if (command.includes(SERVICE_PROGRAM) || command.includes(BUILT_PROGRAM)) return "serviceMb";
  if (command.includes("host-worker")) return "hostMb";
  if (command.includes("postgres")) return "postgresMb";
  return /chrom|headless/i.test(command) ? "chromiumMb" : "otherMb";
}

function descendantsOf(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => readParent(child) === pid);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
