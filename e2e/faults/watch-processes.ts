import { listAlive, listDescendants, type ProcessId } from "../crash/processes.ts";

const LOOK_EVERY_MS = 250;

/** Notes every process that services begin, so that their end can be checked when the services have ended. */
export function watchProcesses() {
  const seen = new Map<string, ProcessId>();
  let root: number | undefined;
  const look = () => {
    if (root === undefined) return;
    for (const one of listDescendants(root)) seen.set(`${one.pid} ${one.startedAt}`, one);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    look,
    follow(pid: number | undefined) {
      root = pid;
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
    stop: () => clearInterval(timer),
  };
}
