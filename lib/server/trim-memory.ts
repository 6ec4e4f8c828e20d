import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** CPU milliseconds in each look below which the process counts as idle: 1 % of one core. */
const IDLE_SHARE = 0.01;
const LOOK_MS = 5_000;
/** Work since the last time that is worth a collection, in CPU milliseconds. */
const WORTH_MS = 500;

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/**
 * Gives memory back to the system once the process has been idle for five seconds after work. V8 keeps the pages that a
 * burst has filled, or the loading of modules at the start, and lets go of them only in a collection of the last resort:
 * 150 MB after the start alone (`facts.md`, Node). Such a collection takes 20 to 100 ms, so it waits for idleness.
 *
 * @param deps.readCpuMs CPU time of this process so far.
 * @returns the way to end it.
 */
export function keepMemoryTrimmed(
  deps: { readCpuMs: () => number; collect: () => void; lookMs?: number } = {
    readCpuMs,
    collect: createCollector(),
  },
): () => void {
  const { readCpuMs: read, collect, lookMs = LOOK_MS } = deps;
  let trimmedAt = 0;
  let seenAt = read();
  const look = () => {
    const now = read();
    const isIdle = now - seenAt < lookMs * IDLE_SHARE;
    seenAt = now;
    if (!isIdle || now - trimmedAt < WORTH_MS) return;
    collect();
    seenAt = read();
    trimmedAt = seenAt;
  };
  const timer = setInterval(look, lookMs);
  timer.unref();
  return () => clearInterval(timer);
}

function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** V8's collector is reached through a flag; a context that is made while the flag is set holds it. */
function createCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as Collect;
  setFlagsFromString("--no-expose-gc");
  return () => collect({ type: "major", execution: "sync", flavor: "last-resort" });
}
