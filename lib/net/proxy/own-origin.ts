import type { AddressRule, AddressVerdict } from "../address/address-rule.ts";
import { hostAndPort } from "../address/address-rule.ts";
import { canonicalAddress } from "../address/describe-address.ts";
import { isOfThisMachine } from "../address/is-of-this-machine.ts";
import { canonicalHostname } from "../address/network-allow.ts";

/**
 * This service as the agent's browser may see it. `origin` is where it listens (a loopback URL), `publicOrigins`
 * its `BASE_URL` and `PUBLIC_PAGES_ORIGIN` where they differ; `paths` may be reached ("/demo" means it and what is below,
 * "/p/" only that).
 */
export type OwnOrigin = { origin: string; publicOrigins?: string[]; paths: string[] };

/** Tells our own origin from the rest of the network. */
export type OwnOriginRule = {
  /**
   * Where an http URL of our own may connect to, or an https URL of a place in `tlsOrigins`; a refusal; or undefined when it
   * is not our own.
   */
  resolve(url: URL): { hostname: string; port: number } | { reason: string } | undefined;
  /**
   * Our public origins with https. The proxy terminates TLS for them, because the rule needs the path of each request. It
   * forwards to the service's plain http port.
   */
  tlsOrigins: URL[];
  /** Says why a tunnel to this host is refused, or undefined when it is not our own. Paths cannot be seen there. */
  refuseTunnel(hostname: string, port: number): string | undefined;
  /** The same rule, which also refuses any address of this machine at our own port, whatever names lead to it. */
  guard(rule: AddressRule): Pick<AddressRule, "check" | "checkAddress">;
};

const refusal = "this service's own pages are not for the agent's browser";

/**
 * Makes the rule about our own origin: its allowed paths are reachable though it is on loopback, and the rest of
 * it is not, whatever `NETWORK_ALLOW` says. Source: `security.md`, What leaves the service.
 */
export function createOwnOriginRule(own: OwnOrigin): OwnOriginRule {
  const listening = hostAndPort(new URL(own.origin));
  const publicUrls = (own.publicOrigins ?? []).map((origin) => new URL(origin));
  const publicPlaces = publicUrls.map((url) => hostAndPort(url));
  const isPlain = new URL(own.origin).protocol === "http:";
  const tlsOrigins = isPlain ? publicUrls.filter(({ protocol }) => protocol === "https:") : [];

  function isOwnName(hostname: string, port: number): boolean {
    const host = canonicalAddress(hostname) ?? canonicalHostname(hostname);
    const isPublic = publicPlaces.some(
      (place) => host === canonicalHostname(place.hostname) && port === place.port,
    );
    if (isPublic) return true;
    if (port !== listening.port) return false;
    return host === listening.hostname || /(^|\.)localhost$/.test(host) || isOfThisMachine(host);
  }

  function isAllowedPath(pathname: string): boolean {
    // An encoded slash could mean another path to the server than to this check.
    if (/%(2f|5c|00)|\/\//i.test(pathname)) return false;
    return own.paths.some((path) =>
      path.endsWith("/") ? pathname.startsWith(path) : pathname === path || pathname.startsWith(`${path}/`),
    );
  }

  function resolve(url: URL) {
    const { hostname, port } = hostAndPort(url);
    if (!isOwnName(hostname, port)) return undefined;
    return isAllowedPath(url.pathname) ? listening : { reason: `${refusal}: ${url.pathname}` };
  }

  function guard(rule: AddressRule): Pick<AddressRule, "check" | "checkAddress"> {
    const checkAddress: AddressRule["checkAddress"] = (address, port, hostname) => {
      if (port === listening.port && isOfThisMachine(address)) return refusal;
      return rule.checkAddress(address, port, hostname);
    };
    async function check(destination: Parameters<AddressRule["check"]>[0]): Promise<AddressVerdict> {
      const verdict = await rule.check(destination);
      const { port } = destination instanceof URL ? hostAndPort(destination) : destination;
      if (!verdict.allowed || port !== listening.port) return verdict;
      const leadsHome = verdict.addresses.some(({ address }) => isOfThisMachine(address));
      return leadsHome ? { allowed: false, why: "refused", reason: refusal } : verdict;
    }
    return { check, checkAddress };
  }

  return {
    resolve,
    tlsOrigins,
    refuseTunnel: (hostname, port) => (isOwnName(hostname, port) ? refusal : undefined),
    guard,
  };
}
