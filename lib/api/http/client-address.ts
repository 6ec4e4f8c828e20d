import { randomUUID } from "node:crypto";
import ipaddr from "ipaddr.js";

/** An address range, as `ipaddr.js` parses it. */
export type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Where a request came from. */
export type Client = {
  /** Address of the connection; undefined where this process did not accept it. */
  peer: string | undefined;
  /** Value of `X-Forwarded-For`. */
  forwardedFor: string | null;
};

/** The addresses of the connections by which requests came. */
const peers = new WeakMap<Request, string>();

/**
 * Request header in which the server hands the address of a connection to Next, which makes requests of its own for its
 * routes. No client can send it, because the name is random for each process.
 */
export const PEER_HEADER = `x-peer-${randomUUID()}`;

/** Stores the address of the connection that a request came by. */
export function notePeer(request: Request, address: string | undefined): void {
  if (address !== undefined) peers.set(request, address);
}

/** The client of a request; a request that the process makes to itself has no peer. */
export const clientOf = (request: Request): Client => ({
  peer: peers.get(request) ?? request.headers.get(PEER_HEADER) ?? undefined,
  forwardedFor: request.headers.get("x-forwarded-for"),
});

/**
 * Parses a list of addresses and CIDR ranges.
 *
 * @throws Error naming the entry that is neither.
 */
export function readAddressRanges(text: string): AddressRange[] {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter(Boolean);
  return entries.map((entry) => {
    if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
    if (!ipaddr.isValid(entry)) throw new Error(`must be addresses or CIDR ranges; ${entry} is neither`);
    const address = ipaddr.process(entry);
    return [address, address.kind() === "ipv4" ? 32 : 128];
  });
}

/**
 * Determines the subject that the client of a request is counted under: its address, or the /64 of an IPv6 address, because
 * a network usually has at least that many to choose from.
 *
 * @returns undefined where the address is not known.
 */
export function readClientSubject(
  client: Client,
  trustedProxies: readonly AddressRange[],
): string | undefined {
  const address = findClientAddress(client, trustedProxies);
  return address && toSubject(address);
}

/** Determines the address of a client, as in {@link readClientSubject}; undefined where it is not known. */
export const readClientAddress = (
  client: Client,
  trustedProxies: readonly AddressRange[],
): string | undefined => findClientAddress(client, trustedProxies)?.toString();

/**
 * `X-Forwarded-For` counts only as far as trusted proxies have written it: it is read from its end, and the first address
 * that is not a trusted proxy is the client. Anything further to the left may have been sent by the client itself.
 */
function findClientAddress(
  { peer, forwardedFor }: Client,
  trustedProxies: readonly AddressRange[],
): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const direct = parseAddress(peer);
  if (!direct) return undefined;
  let client = direct;
  for (const entry of (forwardedFor?.split(",") ?? []).reverse()) {
    if (!isWithin(client, trustedProxies)) break;
    const address = parseAddress(entry);
    if (!address) break;
    client = address;
  }
  return client;
}

/** Parses an address, with or without a port; an IPv4 address that is mapped into IPv6 is read as IPv4. */
function parseAddress(text: string | undefined): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const trimmed = text?.trim() ?? "";
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(trimmed)?.[1] ??
    /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(trimmed)?.[1] ??
    trimmed;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

const isWithin = (address: ipaddr.IPv4 | ipaddr.IPv6, ranges: readonly AddressRange[]): boolean =>
  ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));

function toSubject(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  if (address.kind() === "ipv4") return address.toString();
  const network = [...address.toByteArray().slice(0, 8), ...new Array<number>(8).fill(0)];
  return `${new ipaddr.IPv6(network).toString()}/64`;
}
