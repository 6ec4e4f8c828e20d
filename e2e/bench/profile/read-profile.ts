import type { Profiler } from "node:inspector";
import { fileURLToPath } from "node:url";

/** Time spent in something, in milliseconds: by itself, and with what it called. */
export type Cost = { name: string; selfMs: number; totalMs: number };

/** A CPU profile by package or room, and by function. `totalMs` follows the synchronous stack only. */
type ProfileReading = { packages: Cost[]; functions: Cost[]; busyMs: number };

/** Waiting, and the profiler's own work. */
const NOT_BUSY = new Set(["(idle)", "(root)", "(program)"]);
const isProfiler = (url: string) => url.startsWith("node:inspector");

/** Sums a V8 CPU profile up. @param root the project's folder, to name its own files by their rooms. */
export function readProfile(profile: Profiler.Profile, root: string): ProfileReading {
  const selfMs = new Map<number, number>();
  for (const [index, id] of (profile.samples ?? []).entries())
    selfMs.set(id, (selfMs.get(id) ?? 0) + (profile.timeDeltas?.[index] ?? 0) / 1000);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const packages = createSums();
  const functions = createSums();
  let busyMs = 0;

  /** Walks a call tree; `open` names what is on the stack, so that a recursion counts once. */
  function walk(id: number, open: ReadonlySet<string>): number {
    const node = nodes.get(id);
    if (!node) return 0;
    const { functionName, url, lineNumber } = node.callFrame;
    const own = isProfiler(url) ? 0 : (selfMs.get(id) ?? 0);
    const room = nameRoom(url, functionName, root);
    const place = `${functionName || "(anonymous)"} ${shorten(url, root)}:${lineNumber + 1}`;
    const inside = new Set([...open, room, place]);
    let total = own;
    for (const child of node.children ?? []) total += walk(child, inside);
    if (!NOT_BUSY.has(functionName)) busyMs += own;
    packages.add(room, own, open.has(room) ? 0 : total);
    functions.add(place, own, open.has(place) ? 0 : total);
    return total;
  }
  const root0 = profile.nodes[0];
  if (root0) walk(root0.id, new Set());
  return { packages: packages.list(), functions: functions.list(), busyMs };
}

function createSums() {
  const sums = new Map<string, Cost>();
  return {
    add(name: string, selfMs: number, totalMs: number) {
      const cost = sums.get(name) ?? { name, selfMs: 0, totalMs: 0 };
      cost.selfMs += selfMs;
      cost.totalMs += totalMs;
      sums.set(name, cost);
    },
    list: () => [...sums.values()],
  };
}

/** A package's name, a room of ours (`lib/turn`), `node:…`, or V8's own word. */
function nameRoom(url: string, functionName: string, root: string): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "(built-in)";
  if (url.startsWith("node:")) return url.split("/").slice(0, 2).join("/");
  if (url.startsWith("wasm:")) return "wasm";
  const path = shorten(url, root);
  const found = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  return found?.[1] ?? path.split("/").slice(0, 2).join("/");
}

const shorten = (url: string, root: string): string =>
  (url.startsWith("file:") ? fileURLToPath(url) : url).replace(`${root.replace(/\/$/, "")}/`, "");
