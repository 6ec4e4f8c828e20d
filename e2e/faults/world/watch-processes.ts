import { readFileSync } from "node:fs";
import { listAlive, listDescendants, type ProcessId } from "#e2e/crash/processes.ts";
import { monotonicMs } from "../oracle/log-line.ts";

const LOOK_EVERY_MS = 250;
const WEIGH_EVERY_MS = 50;

/** How long a process's main thread was ready to go on and had no processor, between two moments of the oracle's clock. */
export type Wait = { fromMs: number; toMs: number; ms: number };

/** Milliseconds, since it began, that a process was kept waiting for a processor; undefined when it has gone. */
function readWaitedMs(pid: number): number | undefined {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return undefined;
  }
}

/** Notes every process that services begin, so that their end can be checked when the services have ended. */
export function watchProcesses() {
  const seen = new Map<string, ProcessId>();
  let root: number | undefined;
  const look = () => {
    if (root === undefined) return;
    for (const one of listDescendants(root)) seen.set(`${one.pid} ${one.startedAt}`, one);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  const waits: Wait[] = [];
  let last: { atMs: number; waitedMs: number } | undefined;
  const weigh = () => {
    const waitedMs = root === undefined ? undefined : readWaitedMs(root);
    const atMs = monotonicMs();
    if (last && waitedMs !== undefined)
      waits.push({ fromMs: last.atMs, toMs: atMs, ms: waitedMs - last.waitedMs });
    last = waitedMs === undefined ? undefined : { atMs, waitedMs };
  };
  const scales = setInterval(weigh, WEIGH_EVERY_MS);
  return {
    look,
    /** How long the machine kept the services waiting, and when. */
    waits,
    follow(pid: number | undefined) {
      root = pid;
      last = undefined;
    },
    /** Those that are still there `withinMs` from now. */
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
      clearInterval(scales);
    },
  };
}
