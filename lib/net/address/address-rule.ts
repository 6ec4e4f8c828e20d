import { lookup as resolve } from "node:dns/promises";
import { isIP } from "node:net";
import { createDeadline } from "#lib/time/deadline.ts";
import { canonicalAddress, describeAddress } from "./describe-address.ts";
import { isOfThisMachine } from "./is-of-this-machine.ts";
import { allowsAddress, allowsHost, canonicalHostname, parseNetworkAllowEntry } from "./network-allow.ts";

export { readNetworkAllow } from "./network-allow.ts";

/** An IP address, as a resolver returns it. */
type ResolvedAddress = { address: string; family: number };

/**
 * Resolves a host name to all of its addresses. If the name has no address, the function rejects or returns an empty
 * list.
 */
export type Lookup = (hostname: string) => Promise<ResolvedAddress[]>;

/**
 * The destination of a connection: a URL, or a port and a host. The host is a name or an address (IPv6 with or without
 * brackets).
 */
type Destination = URL | { hostname: string; port: number };

/**
 * The guard's decision about a destination. `addresses` are the addresses to connect to; `reason` is a sentence for
 * people. `unresolved`: the host name could not be resolved to an address; a later attempt may succeed. `refused`: the
 * destination is forbidden.
 */
export type AddressVerdict =
  | { allowed: true; addresses: ResolvedAddress[] }
  | { allowed: false; why: "refused" | "unresolved"; reason: string };

/** The rule that decides where requests may go. The guarded fetch and the forward proxy share it. */
export type AddressRule = {
  /** Resolves a destination and checks that all of its addresses are allowed. Never rejects. */
  check(destination: Destination): Promise<AddressVerdict>;
  /**
   * Returns why a connection to an IP address is refused; undefined if it is allowed. `hostname` is the host name that
   * was resolved to the address, if there was one.
   */
  checkAddress(address: string, port: number, hostname?: string): string | undefined;
  /**
   * Reserves a port of this machine, for example for DevTools or a proxy. Connections to a reserved port are refused,
   * even if `NETWORK_ALLOW` allows them.
   * @returns a function that ends the reservation.
   */
  reservePort(port: number): () => void;
  /**
   * Returns why a URL is refused for its scheme, credentials, port, local name or literal address; undefined for any
   * other URL. Makes no DNS query.
   */
  refuseLiteral(url: URL): string | undefined;
};

/**
 * `allow`: entries of `NETWORK_ALLOW`. `lookup`: a resolver, by default the system's. `lookupTimeoutMs`: time limit of
 * a lookup.
 */
type AddressRuleOptions = { allow: string[]; lookup?: Lookup; lookupTimeoutMs?: number };

const exceptionHint = "name it in NETWORK_ALLOW to permit it";
const RESERVED = "this port belongs to the service's own browsers";
const LOCAL_NAMES = /(^|\.)(localhost|localdomain|local|internal|home\.arpa)$/;

/**
 * Creates the guard's rule from the entries of `NETWORK_ALLOW`. Each entry is a host, `host:port` or CIDR. Literal
 * addresses need no DNS query. Source: `security.md`, What leaves the service.
 * @throws Error if an entry is malformed. The message names the entry.
 */
export function createAddressRule(options: AddressRuleOptions): AddressRule {
  const entries = options.allow.map(parseNetworkAllowEntry);
  const lookup = options.lookup ?? ((hostname) => resolve(hostname, { all: true, order: "verbatim" }));
  const lookupTimeoutMs = options.lookupTimeoutMs ?? 5_000;
  const reservedPorts = new Set<number>();

  function checkAddress(address: string, port: number, hostname?: string): string | undefined {
    const canonical = canonicalAddress(address);
    if (canonical === undefined) return `${address} is not an IP address`;
    if (reservedPorts.has(port) && isOfThisMachine(canonical)) return RESERVED;
    const name = hostname === undefined ? undefined : canonicalHostname(hostname);
    const isExcepted = entries.some(
      (entry) =>
        allowsAddress(entry, canonical, port) || (name !== undefined && allowsHost(entry, name, port)),
    );
    if (isExcepted) return undefined;
    const description = describeAddress(canonical);
    if (description === undefined) return refusePort(canonical, port);
    // For a host name, the reason omits the address, because callers could use the address to explore the internal
    // network.
    const isLiteral = name === undefined || canonicalAddress(name) !== undefined;
    return `${isLiteral ? address : name} ${isLiteral ? "is" : "resolves to"} ${description}; ${exceptionHint}`;
  }

  function refuseName(name: string, port: number): string | undefined {
    if (entries.some((entry) => allowsHost(entry, name, port))) return undefined;
    if (LOCAL_NAMES.test(name)) return `${name} is a local name; ${exceptionHint}`;
    return refusePort(name, port);
  }

  function refuseHost(hostname: string, port: number): string | undefined {
    const address = literalOf(hostname);
    if (address !== undefined) return checkAddress(address, port);
    return refuseName(canonicalHostname(hostname), port);
  }

  async function check(destination: Destination): Promise<AddressVerdict> {
    const { hostname, port } = destination instanceof URL ? hostAndPort(destination) : destination;
    const refusal =
      destination instanceof URL ? refuseLiteral(destination) : refuseHost(destination.hostname, port);
    if (refusal !== undefined) return { allowed: false, why: "refused", reason: refusal };
    const literal = literalOf(hostname);
    if (literal !== undefined)
      return { allowed: true, addresses: [{ address: literal, family: isIP(literal) }] };
    const name = canonicalHostname(hostname);
    const addresses = await resolveWithin(lookup, name, lookupTimeoutMs);
    if (addresses.length === 0) {
      return { allowed: false, why: "unresolved", reason: `${name} could not be resolved to an address` };
    }
    for (const { address } of addresses) {
      const reason = checkAddress(address, port, name);
      if (reason !== undefined) return { allowed: false, why: "refused", reason };
    }
    return { allowed: true, addresses };
  }

  function refuseLiteral(url: URL): string | undefined {
    if (url.protocol !== "http:" && url.protocol !== "https:") {
      return `${url.protocol.slice(0, -1)} is not an http(s) scheme`;
    }
    if (url.username !== "" || url.password !== "") return "a URL must not carry credentials";
    const { hostname, port } = hostAndPort(url);
    return refuseHost(hostname, port);
  }

  function reservePort(port: number): () => void {
    reservedPorts.add(port);
    return () => reservedPorts.delete(port);
  }

  return { check, checkAddress, reservePort, refuseLiteral };
}

/** Returns the canonical form of a literal address, even if dots follow the address. Undefined for a host name. */
const literalOf = (hostname: string): string | undefined =>
  canonicalAddress(hostname) ?? canonicalAddress(canonicalHostname(hostname));

function refusePort(host: string, port: number): string | undefined {
  return BLOCKED_PORTS.has(port)
    ? `port ${port} of ${host} is not a port for HTTP; ${exceptionHint}`
    : undefined;
}

/**
 * Returns the host (IPv6 without brackets) and the port of a URL. If the URL has no port, returns the scheme's default
 * port.
 */
export function hostAndPort(url: URL): { hostname: string; port: number } {
  const hostname = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const isSecure = url.protocol === "https:" || url.protocol === "wss:";
  return { hostname, port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port) };
}

/** Resolves a host name. Returns an empty list if the resolver fails or does not answer in time. */
async function resolveWithin(lookup: Lookup, name: string, timeoutMs: number): Promise<ResolvedAddress[]> {
  try {
    return await createDeadline({ ms: timeoutMs, lateMessage: "no answer in time" }).race(lookup(name));
  } catch {
    return [];
  }
}

/**
 * Ports of other protocols (mail, files, remote shells), whose servers could interpret an HTTP body as commands. Port 0
 * is included because it is not a valid port. Source: Fetch standard, "port blocking".
 */
const BLOCKED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
  109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
  526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
  3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
]);
