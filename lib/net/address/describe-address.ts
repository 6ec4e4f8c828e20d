import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Names of the address ranges that are not public, for sentences such as "… is a loopback address". */
const rangeNames: Readonly<Record<string, string>> = {
  unspecified: "an unspecified address",
  broadcast: "a broadcast address",
  multicast: "a multicast address",
  linkLocal: "a link-local address",
  loopback: "a loopback address",
  carrierGradeNat: "a carrier-grade NAT address",
  private: "a private address",
  uniqueLocal: "a private address",
  deprecatedSiteLocal: "a private address",
  "6to4": "a 6to4 address",
  teredo: "a Teredo address",
  rfc6145: "an address of IPv4 translation",
  benchmarking: "a benchmarking address",
};

/** Addresses from which cloud machines can fetch their credentials. Some of these addresses are in public ranges. */
const METADATA_ADDRESSES = new Set([
  "169.254.169.254",
  "169.254.170.2",
  "169.254.170.23",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
]);

/**
 * Normalizes an IP address for comparisons. The zone is removed, an IPv4-mapped IPv6 address becomes an IPv4 address,
 * and other IPv6 addresses are shortened. Returns undefined if the text is not an IP address.
 */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (isIP(bare) === 0) return undefined;
  const parsed = ipaddr.process(bare.replace(/%.*$/, ""));
  return parsed.kind() === "ipv4" ? parsed.toString() : (parsed as ipaddr.IPv6).toRFC5952String();
}

/**
 * Describes an IP address that is not public, such as "a loopback address" or "a metadata address". Returns undefined
 * for a public address. The argument must be in the form that `canonicalAddress` returns. Source: `security.md`, What
 * leaves the service; IANA special-purpose address registries.
 */
export function describeAddress(canonical: string): string | undefined {
  if (METADATA_ADDRESSES.has(canonical)) return "a metadata address";
  const parsed = ipaddr.parse(canonical);
  const range = parsed.range();
  if (parsed.kind() === "ipv4") {
    return range === "unicast" ? undefined : (rangeNames[range] ?? "a reserved address");
  }
  return describeIPv6(parsed as ipaddr.IPv6, range);
}

function describeIPv6(parsed: ipaddr.IPv6, range: string): string | undefined {
  const bytes = parsed.toByteArray();
  const isWellKnownNat64 = parsed.match(ipaddr.parse("64:ff9b::"), 96);
  if (isWellKnownNat64) return describeEmbedded(bytes.slice(12), "NAT64");
  if (range === "rfc6052") return "a NAT64 address";
  if (range === "6to4") return describeEmbedded(bytes.slice(2, 6), "6to4") ?? rangeNames["6to4"];
  if (range === "unicast") {
    if (parsed.match(ipaddr.parse("::"), 96)) {
      return describeEmbedded(bytes.slice(12), "IPv4-compatible") ?? "an IPv4-compatible address";
    }
    // Addresses outside 2000::/3 are reserved, because only 2000::/3 is allocated for the public internet.
    if (!parsed.match(ipaddr.parse("2000::"), 3)) return "a reserved address";
    // The last four bytes of an ISATAP address are an IPv4 address, whatever the prefix.
    const isIsatap =
      (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;
    return isIsatap ? describeEmbedded(bytes.slice(12), "ISATAP") : undefined;
  }
  return rangeNames[range] ?? "a reserved address";
}

function describeEmbedded(bytes: number[], form: string): string | undefined {
  const inner = describeAddress(ipaddr.fromByteArray(bytes).toString());
  return inner === undefined ? undefined : `the ${form} form of ${inner}`;
}
