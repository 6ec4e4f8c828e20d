import type { Profiler } from "node:inspector";
import { fileURLToPath } from "node:url";

/**
 * Milliseconds that were spent in a package, a folder of the project or a function. `totalMs` includes the functions
 * that were called from there, and `selfMs` does not.
 */
export type Cost = { name: string; selfMs: number; totalMs: number };

/** Costs by package or folder, and by function. `totalMs` includes synchronous calls only. */
type ProfileReading = { packages: Cost[]; functions: Cost[]; busyMs: number };

/** The names that V8 gives to idle time and to time outside of functions. */
const NOT_BUSY = new Set(["(idle)", "(root)", "(program)"]);
const isProfiler = (url: string) => url.startsWith("node:inspector");

/**
 * Sums up the costs in a CPU profile of V8.
 *
 * @param root the project's folder. Files below it are the project's own.
 */
export function readProfile(profile: Profiler.Profile, root: string): ProfileReading {
  const selfMs = new Map<number, number>();
  for (const [index, id] of (profile.samples ?? []).entries())
    selfMs.set(id, (selfMs.get(id) ?? 0) + (profile.timeDeltas?.[index] ?? 0) / 1000);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const packages = createSums();
  const functions = createSums();
  let busyMs = 0;

  /** Walks a call tree. `open` contains the names on the call stack, so that a recursive function counts once. */
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
  const [rootNode] = profile.nodes;
  if (rootNode) walk(rootNode.id, new Set());
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

/**
 * Returns the package of a function, its folder in the project (such as `lib/turn`), `node:…`, or V8's own name (such
 * as `(idle)`).
 */
function nameRoom(url: string, functionName: string, root: string): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "(built-in)";
  if (url.startsWith("node:")) return url.split("/").slice(0, 2).join("/");
  if (url.startsWith("wasm:")) return "wasm";
  const path = shorten(url, root);
  const match = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
  return match?.[1] ?? path.split("/").slice(0, 2).join("/");
}

const shorten = (url: string, root: string): string =>
  (url.startsWith("file:") ? fileURLToPath(url) : url).replace(`${root.replace(/\/$/, "")}/`, "");
