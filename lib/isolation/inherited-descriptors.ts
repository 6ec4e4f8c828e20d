import { closeSync, readdirSync, readFileSync } from "node:fs";

/** The bit of `flags` in /proc/<pid>/fdinfo (octal) for descriptors that a started program does not get. */
const CLOSE_ON_EXEC = 0o2000000;
const STANDARD_MAX = 2;

/**
 * Closes what this process has inherited from the one that started it, standard streams aside: every process that it
 * starts would inherit it, too. Node itself opens nothing in that way. Does nothing on systems other than Linux.
 *
 * @returns what was closed.
 */
export function closeInheritedDescriptors(): number[] {
  if (process.platform !== "linux") return [];
  const closed: number[] = [];
  for (const name of readdirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (descriptor <= STANDARD_MAX || !isInheritable(descriptor)) continue;
    closeSync(descriptor);
    closed.push(descriptor);
  }
  return closed;
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch (error) {
    // The descriptor of the listing itself is closed by now.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
