import { readdirSync, readFileSync } from "node:fs";

/** CPU time that a live process has used so far, all threads, in milliseconds. Linux only: reads /proc. */
export function readCpuMs(pid: number): number {
  // Finer than the clock ticks of `stat`, and enough, as Node keeps its threads.
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((total, thread) => total + readThreadNs(pid, thread), 0) / 1e6;
}

/** CPU time of a live process and its live descendants, in milliseconds. What ended processes used is not in it. */
export const readTreeCpuMs = (pid: number): number =>
  [pid, ...descendantsOf(pid)].reduce((total, member) => total + readCpuMs(member), 0);

/** The process that started this one; 0 if there is none. */
export const readParent = (pid: number): number =>
  Number(readText(`/proc/${pid}/stat`).split(") ")[1]?.split(" ")[1] ?? 0);

function readThreadNs(pid: number, thread: string): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  } catch {
    return 0;
  }
}

/** Memory in MB of one process; what it shares with others counts in part (PSS). Linux only. */
export const readMemoryMb = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readText(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) / 1024;

/** Memory in MB of a process and its descendants, by kind of process; what is shared counts once (PSS). Linux only. */
export function listMemoryMb(pid: number): Record<string, number> {
  const byKind: Record<string, number> = {};
  for (const member of [pid, ...descendantsOf(pid)]) {
    const kind = nameKind(readText(`/proc/${member}/cmdline`));
    byKind[kind] = (byKind[kind] ?? 0) + readMemoryMb(member);
  }
  return byKind;
}

function nameKind(command: string): string {
  if (command.includes("lib/server/main.ts")) return "serviceMb";
  if (command.includes("postgres")) return "postgresMb";
  return /chrom|headless/i.test(command) ? "chromiumMb" : "otherMb";
}

function descendantsOf(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    // The command's name, in brackets, may hold anything.
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
