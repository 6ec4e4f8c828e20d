import { readFileSync } from "node:fs";
import { listDescendants } from "#e2e/crash/processes.ts";

export const MIB = 1_048_576;
const SAMPLE_EVERY_MS = 100;

/** The largest memory of one process of the service, in bytes. */
export type Peak = { bytes: number; process: string };

function readResidentBytes(pid: number): number {
  try {
    const [, kib = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib) * 1_024;
  } catch {
    return 0; // The process has ended.
  }
}

/**
 * Samples the resident memory of the service and of every process below it. If one of them has more than `endAtBytes`,
 * kills it and all others, so that a failure ends the service and not the machine.
 */
export function watchMemory(pid: number, endAtBytes: number) {
  const peak: Peak = { bytes: 0, process: "" };
  let hasEnded = false;
  const timer = setInterval(() => {
    const processes = [{ pid, name: "service" }, ...listDescendants(pid)];
    for (const each of processes) {
      const bytes = readResidentBytes(each.pid);
      if (bytes > peak.bytes) Object.assign(peak, { bytes, process: each.name });
    }
    if (peak.bytes <= endAtBytes || hasEnded) return;
    hasEnded = true;
    for (const each of processes) kill(each.pid);
  }, SAMPLE_EVERY_MS);
  return {
    peak,
    /** Whether the service was killed because of its memory. */
    hasEnded: () => hasEnded,
    stop: () => clearInterval(timer),
  };
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended since it was listed.
  }
}
