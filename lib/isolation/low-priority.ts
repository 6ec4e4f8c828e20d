import { writeFile } from "node:fs/promises";

/**
 * The niceness of everything that the service runs for an agent: commands, test runs and scripts. While the processors
 * are busy, such a process gets about a third of the time that the service gets (niceness 0).
 */
export const LOW_PRIORITY = 5;

/**
 * The niceness of browsers. It is above that of scripts, because a script ends at its deadline, and a page works as long
 * as it likes: a busy page otherwise makes the scripts of other sessions wait. While the processors are busy, a browser gets
 * about a fifth of the time that the service gets. With less, people wait long for the first picture of a page.
 */
export const BROWSER_PRIORITY = 7;

/** Returns the arguments that start a program with low priority. The first one is the program to run: `nice`. */
export const withLowPriority = (command: readonly string[], niceness = LOW_PRIORITY): string[] => [
  "nice",
  "-n",
  String(niceness),
  ...command,
];

/**
 * Shell script that gives the session of the calling process low priority. Linux compares sessions of processes first
 * (autogroups), and niceness counts only within one of them. Without privileges, the kernel accepts one such change in
 * 100 ms on the whole machine (EAGAIN otherwise), so the script tries again for up to a second.
 */
export const LOWER_AUTOGROUP = `[ ! -e /proc/self/autogroup ] || for try in 1 2 3 4 5 6 7 8 9 10; do echo ${LOW_PRIORITY} 2>/dev/null > /proc/self/autogroup && break; sleep 0.1; done`;

/**
 * Does the same for the session that a child process leads. Does nothing on a system without autogroups, or if the child
 * has ended.
 */
export function lowerAutogroupOf(pid: number | undefined, niceness = LOW_PRIORITY): void {
  if (pid === undefined) return;
  writeFile(`/proc/${pid}/autogroup`, String(niceness), { flag: "r+" }).catch(() => {});
}
