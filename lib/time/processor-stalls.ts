import { readFileSync } from "node:fs";

/**
 * Returns for how long programs of this machine have waited for a processor, in milliseconds since the machine started.
 * 0 on a system that does not tell. Linux calls this pressure stall information.
 */
export function readStalledMs(): number {
  try {
    const total = /^some .*total=(\d+)$/m.exec(readFileSync("/proc/pressure/cpu", "utf8"))?.[1];
    return total === undefined ? 0 : Number(total) / 1_000;
  } catch {
    return 0;
  }
}
