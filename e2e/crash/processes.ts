import { readdirSync, readFileSync } from "node:fs";

/** A process. `startedAt` distinguishes it from a later process with the same `pid`. */
export type ProcessId = { pid: number; startedAt: string; name: string };

type Entry = ProcessId & { parent: number; isZombie: boolean };

/** Lists all descendants of these processes. Reads /proc, so it works only on Linux. */
export function listDescendants(...roots: number[]): ProcessId[] {
  const all = listProcesses();
  const found = new Set(roots);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all.filter(({ pid }) => !roots.includes(pid) && found.has(pid));
}

/** Returns the processes of the list that still run. Zombies count as ended. */
export function listAlive(processes: ProcessId[]): ProcessId[] {
  const alive = listProcesses().filter(({ isZombie }) => !isZombie);
  return processes.filter((one) => alive.some((other) => isSame(one, other)));
}

const isSame = (one: ProcessId, other: ProcessId) =>
  one.pid === other.pid && one.startedAt === other.startedAt;

function listProcesses(): Entry[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      // The fields after the name are read from the last ")", because the name may contain spaces and parentheses.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const [state = "", parent = "0"] = fields;
      const title = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
      const startedAt = fields[19] ?? "";
      return [{ pid: Number(name), startedAt, name: title, parent: Number(parent), isZombie: state === "Z" }];
    } catch {
      return []; // The process has ended since /proc was listed.
    }
  });
}
