import { monotonicMs, type OracleLine } from "./log-line.ts";

const TICK_MS = 25;

/**
 * Notes when this machine is too busy to ring a timer in time: what a process that does next to nothing waits for, every
 * other one waits for too, and no promise about times can be judged without it.
 */
export function noteStalls(note: (line: OracleLine) => void): void {
  let dueAtMs = monotonicMs() + TICK_MS;
  setInterval(() => {
    const atMs = monotonicMs();
    const ms = Math.round(atMs - dueAtMs);
    if (ms > TICK_MS) note({ atMs, type: "stall", ms });
    dueAtMs = atMs + TICK_MS;
  }, TICK_MS).unref();
}
