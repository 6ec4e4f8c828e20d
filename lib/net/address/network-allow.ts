import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { canonicalAddress } from "./describe-address.ts";

/** One exception to the guard's rule: a network, or a host (name or address) with or without a port. */
type NetworkAllowEntry =
  | { kind: "network"; base: ipaddr.IPv4 | ipaddr.IPv6; bits: number }
  | { kind: "host"; host: string; port: number | undefined };

/**
 * Splits the value of `NETWORK_ALLOW` (comma-separated hosts, `host:port` or CIDRs) into trimmed entries. Empty entries
 * are dropped. If an entry is malformed, throws an Error that names the variable and the entry.
 */
export function readNetworkAllow(text: string | undefined): string[] {
  const entries = (text ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  for (const entry of entries) parseNetworkAllowEntry(entry);
  return entries;
}

/**
 * Parses one entry of `NETWORK_ALLOW`. If the entry is malformed, throws an Error that names the variable and the
 * entry.
 */
export function parseNetworkAllowEntry(entry: string): NetworkAllowEntry {
  if (entry.includes("/")) return parseNetwork(entry);
  if (isIP(entry) === 6) return { kind: "host", host: canonicalAddress(entry) ?? entry, port: undefined };
  const match = /^(\[[^\]]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(entry);
  const host = match?.[1];
  if (host === undefined) throw malformed(entry, "a host, host:port or CIDR is expected");
  const port = match?.[2] === undefined ? undefined : Number(match[2]);
  if (port !== undefined && (port < 1 || port > 65_535)) throw malformed(entry, "the port is out of range");
  return { kind: "host", host: parseHost(entry, host), port };
}

function parseNetwork(entry: string): NetworkAllowEntry {
  const isIPv4Form = ipaddr.IPv4.isValidCIDRFourPartDecimal(entry);
  if (!isIPv4Form && !ipaddr.IPv6.isValidCIDR(entry))
    throw malformed(entry, "it is no CIDR such as 10.0.0.0/8");
  const [base, bits] = ipaddr.parseCIDR(entry);
  return { kind: "network", base, bits };
}

function parseHost(entry: string, host: string): string {
  const address = canonicalAddress(host);
  if (address !== undefined) return address;
  const url = /^[^\s/?#@\\%*]+$/.test(host) && URL.parse(`http://${host}/`);
  if (!url) throw malformed(entry, "it is no host name or address");
  // Rejects other spellings of an address, because converting them could allow the wrong address: a URL parser turns
  // "010.0.0.1" into 8.0.0.1.
  if (canonicalAddress(url.hostname) !== undefined)
    throw malformed(entry, `write the address as ${url.hostname}`);
  return canonicalHostname(url.hostname);
}

function malformed(entry: string, why: string): Error {
  return new Error(`NETWORK_ALLOW: "${entry}" is malformed: ${why}`);
}

/** Normalizes a host name for comparisons: lower case, without trailing dots. */
export function canonicalHostname(hostname: string): string {
  return hostname.toLowerCase().replace(/\.+$/, "");
}

/** Whether an entry allows this host (canonical name or address) at this port. */
export function allowsHost(entry: NetworkAllowEntry, host: string, port: number): boolean {
  return entry.kind === "host" && entry.host === host && (entry.port === undefined || entry.port === port);
}

/** Whether an entry allows this canonical IP address at this port, either as a host or as part of a network. */
export function allowsAddress(entry: NetworkAllowEntry, canonical: string, port: number): boolean {
  if (entry.kind === "host") return allowsHost(entry, canonical, port);
  const parsed = ipaddr.parse(canonical);
  return parsed.kind() === entry.base.kind() && parsed.match(entry.base, entry.bits);
}
