import { networkInterfaces } from "node:os";
import { canonicalAddress, describeAddress } from "./describe-address.ts";

/**
 * Whether an IP address belongs to this machine: a loopback or unspecified address, or the address of a network
 * interface. False for host names.
 */
export function isOfThisMachine(host: string): boolean {
  const address = canonicalAddress(host);
  if (address === undefined) return false;
  if (/loopback|unspecified/.test(describeAddress(address) ?? "")) return true;
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => canonicalAddress(entry.address) === address),
  );
}
