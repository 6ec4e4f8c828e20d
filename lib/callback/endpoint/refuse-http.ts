import { hostAndPort } from "#lib/net/address/address-rule.ts";
import { canonicalAddress } from "#lib/net/address/describe-address.ts";
import {
  allowsAddress,
  allowsHost,
  canonicalHostname,
  parseNetworkAllowEntry,
} from "#lib/net/address/network-allow.ts";

/** Returns the reason why the scheme of a callback URL is refused; undefined if the scheme is accepted. */
export type HttpRefusal = (url: URL) => string | undefined;

/**
 * Creates the rule for callbacks over plain http. The specification accepts http URLs, so they are refused only if the
 * deployment sets `CALLBACK_HTTP=refuse`. For hosts in `NETWORK_ALLOW`, http is always accepted.
 * Source: specification, Callback object; `configuration.md`, Variables, `CALLBACK_HTTP`.
 */
export function createHttpRefusal(http: "allow" | "refuse", networkAllow: readonly string[]): HttpRefusal {
  if (http === "allow") return () => undefined;
  const entries = networkAllow.map(parseNetworkAllowEntry);
  return (url) => {
    if (url.protocol === "https:") return undefined;
    const { hostname, port } = hostAndPort(url);
    const name = canonicalHostname(hostname);
    const address = canonicalAddress(name);
    const isNamed = entries.some((entry) =>
      address === undefined ? allowsHost(entry, name, port) : allowsAddress(entry, address, port),
    );
    return isNamed
      ? undefined
      : "must be https, because CALLBACK_HTTP=refuse; hosts in NETWORK_ALLOW may use http";
  };
}
