import { closeSync, readdirSync, readFileSync } from "node:fs";

/**
 * The close-on-exec bit of the octal `flags` in /proc/<pid>/fdinfo. Started programs do not inherit descriptors with
 * this bit.
 */
const CLOSE_ON_EXEC = 0o2000000;
const STANDARD_MAX = 2;

/**
 * Closes the descriptors that this process inherited, except the standard streams. Otherwise, programs that this
 * process starts would inherit the descriptors, too. Node's own descriptors are not inheritable. Does nothing on
 * systems other than Linux.
 *
 * @returns the closed descriptors.
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
    // The list includes the descriptor that `readdirSync` used, which is closed by now.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
