import { canonicalHostname } from "#lib/net/address/network-allow.ts";

/**
 * Whether a `Host` header names the host of landing pages, which serves nothing else.
 *
 * @param origin the origin of landing pages (`PUBLIC_PAGES_ORIGIN`). If undefined, they have no host of their own.
 */
export function isPagesHost(origin: string | undefined, host: string | null | undefined): boolean {
  if (!origin || !host) return false;
  const own = new URL(origin);
  const requested = URL.parse(`${own.protocol}//${host}`);
  if (!requested) return false;
  return (
    requested.port === own.port && canonicalHostname(requested.hostname) === canonicalHostname(own.hostname)
  );
}
