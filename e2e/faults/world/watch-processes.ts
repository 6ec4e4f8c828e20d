import { readFileSync } from "node:fs";
import { listAlive, listDescendants, type ProcessId } from "#e2e/crash/processes.ts";
import { monotonicMs } from "../recorder/log-line.ts";

const LOOK_EVERY_MS = 250;
const SAMPLE_EVERY_MS = 50;

/** The time (`ms`) that a process's main thread waited for a processor between two times of the monotonic clock. */
export type Wait = { fromMs: number; toMs: number; ms: number };

/**
 * Returns how many milliseconds the main thread of a process has waited for a processor since the process started;
 * undefined if the process has ended.
 */
function readWaitedMs(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return undefined;
  }
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // The process has ended.
  }
}

/**
 * Records every process that the service starts, so that `waitForEnd` can check that all of them have ended. Also
 * records what these processes start after the service has ended: a browser host outlives it.
 */
export function watchProcesses() {
  const seen = new Map<string, ProcessId>();
  let root: number | undefined;
  const look = () => {
    if (root === undefined) return;
    const alive = listAlive([...seen.values()]);
    for (const one of listDescendants(root, ...alive.map(({ pid }) => pid)))
      seen.set(`${one.pid} ${one.startedAt}`, one);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  const waits: Wait[] = [];
  let last: { atMs: number; waitedMs: number } | undefined;
  const sampleWait = () => {
    const waitedMs = root === undefined ? undefined : readWaitedMs(root);
    const atMs = monotonicMs();
    if (last && waitedMs !== undefined)
      waits.push({ fromMs: last.atMs, toMs: atMs, ms: waitedMs - last.waitedMs });
    last = waitedMs === undefined ? undefined : { atMs, waitedMs };
  };
  const waitTimer = setInterval(sampleWait, SAMPLE_EVERY_MS);
  return {
    look,
    /** Returns the recorded processes that run now and whose command line contains a text, the newest last. */
    find(text: string): ProcessId[] {
      look();
      return listAlive([...seen.values()])
        .filter(({ pid }) => readCommandLine(pid).includes(text))
        .sort((one, other) => Number(one.startedAt) - Number(other.startedAt));
    },
    /** How long the service waited for a processor in each interval of about 50 ms. */
    waits,
    follow(pid: number | undefined) {
      root = pid;
      last = undefined;
    },
    /** Waits until all recorded processes have ended. @returns the processes that still run after `withinMs`. */
    async waitForEnd(withinMs: number): Promise<ProcessId[]> {
      const end = Date.now() + withinMs;
      let left = listAlive([...seen.values()]);
      while (left.length > 0 && Date.now() < end) {
        await new Promise((done) => setTimeout(done, 100));
        left = listAlive(left);
      }
      return left;
    },
    stop() {
      clearInterval(timer);
      clearInterval(waitTimer);
    },
  };
}
