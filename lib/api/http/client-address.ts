import { randomUUID } from "node:crypto";
import ipaddr from "ipaddr.js";

/** An address range in the form that `ipaddr.js` parses: an address and the number of prefix bits. */
export type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Where a request comes from in the network. */
export type Client = {
  /** Remote address of the connection. Undefined if this process did not accept the connection. */
  peer: string | undefined;
  /** Value of the header `X-Forwarded-For`. */
  forwardedFor: string | null;
};

/** The remote address of each request's connection. */
const peers = new WeakMap<Request, string>();

/**
 * Request header with which the server passes the remote address of a connection to Next. The header is needed because
 * Next creates new request objects for routes. Clients cannot send the header, because each process chooses a random
 * name.
 */
export const PEER_HEADER = `x-peer-${randomUUID()}`;

/** Stores the remote address of a request's connection. */
export function recordPeer(request: Request, address: string | undefined): void {
  if (address !== undefined) peers.set(request, address);
}

/** Describes the client of a request. A request that the process sends to itself has no peer. */
export const clientOf = (request: Request): Client => ({
  peer: peers.get(request) ?? request.headers.get(PEER_HEADER) ?? undefined,
  forwardedFor: request.headers.get("x-forwarded-for"),
});

/**
 * Parses a list of addresses and CIDR ranges, separated by commas.
 *
 * @throws Error that names the first invalid entry.
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
 * Determines the subject for which a client's failures are counted: the IPv4 address, or the /64 network of the IPv6
 * address, because an IPv6 client can usually choose any address in its /64 network.
 *
 * @returns undefined if the address is unknown.
 */
export function readClientSubject(
  client: Client,
  trustedProxies: readonly AddressRange[],
): string | undefined {
  const address = findClientAddress(client, trustedProxies);
  return address && toSubject(address);
}

/** Determines the full address of a client; undefined if the address is unknown. */
export const readClientAddress = (
  client: Client,
  trustedProxies: readonly AddressRange[],
): string | undefined => findClientAddress(client, trustedProxies)?.toString();

/**
 * Finds the address of a client. Starts with the address of the connection, then reads `X-Forwarded-For` from its end,
 * because each proxy appends an address. Stops at the first address that does not belong to a trusted proxy, because
 * the client may have forged all entries to the left of that address. Also stops at an entry that is not an address.
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

/** Parses an address, with or without a port. An IPv4 address mapped into IPv6 becomes IPv4. */
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
