import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Identifies the loopback interface of this process: the boot of the machine and the network namespace. Other systems
 * than Linux have no namespaces.
 */
export const THIS_MACHINE = readMachine();

function readMachine(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/net")}`;
  } catch {
    return hostname();
  }
}
