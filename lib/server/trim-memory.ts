import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The process counts as idle in an interval if it used less than this share of one CPU core. */
const IDLE_SHARE = 0.01;
const INTERVAL_MS = 5_000;
/** Another collection is worthwhile if the process has used this much CPU time since the last one, in milliseconds. */
const WORK_MS_MIN = 500;

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/**
 * Returns memory to the system when the process has been idle for five seconds after work. Until a last-resort garbage
 * collection, V8 keeps the memory that a burst of work, or the loading of modules at the start, has used. After the
 * start, this memory is 150 MB (`facts.md`, Node). Such a collection takes 20 to 100 ms, so it runs only in an idle
 * process.
 *
 * @param deps.readCpuMs returns the CPU time that this process has used.
 * @returns a function that stops the checks.
 */
export function trimMemoryRegularly(
  deps: { readCpuMs: () => number; collect: () => void; intervalMs?: number } = {
    readCpuMs,
    collect: createCollector(),
  },
): () => void {
  const { readCpuMs: read, collect, intervalMs = INTERVAL_MS } = deps;
  let trimmedAtCpuMs = 0;
  let lastCpuMs = read();
  const check = () => {
    const cpuMs = read();
    const isIdle = cpuMs - lastCpuMs < intervalMs * IDLE_SHARE;
    lastCpuMs = cpuMs;
    if (!isIdle || cpuMs - trimmedAtCpuMs < WORK_MS_MIN) return;
    collect();
    lastCpuMs = read();
    trimmedAtCpuMs = lastCpuMs;
  };
  const timer = setInterval(check, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
}

function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Gets the function `gc`, which exists in a context that is created while the flag `--expose-gc` is set. */
function createCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  setFlagsFromString("--no-expose-gc");
  return () => collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
