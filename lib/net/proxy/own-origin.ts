import type { AddressRule, AddressVerdict } from "../address/address-rule.ts";
import { hostAndPort } from "../address/address-rule.ts";
import { canonicalAddress } from "../address/describe-address.ts";
import { isOfThisMachine } from "../address/is-of-this-machine.ts";
import { canonicalHostname } from "../address/network-allow.ts";

/**
 * The part of this service that the agent's browser may reach. `origin` is the loopback URL at which the service
 * listens. `publicOrigins` are `BASE_URL` and `PUBLIC_PAGES_ORIGIN`, if they differ from `origin`. `paths` are the
 * allowed paths: "/demo" allows that path and all paths below it; "/p/" allows all paths that begin with "/p/".
 */
export type OwnOrigin = { origin: string; publicOrigins?: string[]; paths: string[] };

/** Decides about requests to the service's own origin. */
export type OwnOriginRule = {
  /**
   * Decides about a URL. Returns the address to connect to for an allowed path of our own origin, the reason of the
   * refusal for any other path of our own origin, and undefined for a foreign URL.
   */
  resolve(url: URL): { hostname: string; port: number } | { reason: string } | undefined;
  /**
   * Our public https origins. The proxy terminates TLS for them, because it must see the path of each request. It
   * forwards the requests to the service's plain http port. Empty if the service itself listens with https.
   */
  tlsOrigins: URL[];
  /**
   * Returns why a tunnel to our own origin is refused: the proxy cannot see the paths in it. Undefined for a foreign
   * host.
   */
  refuseTunnel(hostname: string, port: number): string | undefined;
  /** Extends a rule. The new rule also refuses our own port at all addresses of this machine, under every host name. */
  guard(rule: AddressRule): Pick<AddressRule, "check" | "checkAddress">;
};

const refusal = "this service's own pages are not for the agent's browser";

/**
 * Creates the rule about our own origin. The rule allows `own.paths`, although our origin is on loopback. It refuses
 * all other paths, even if `NETWORK_ALLOW` allows the origin. Source: `security.md`, What leaves the service.
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
    // Refuses double slashes, and encoded slashes, backslashes and null characters, because the server could understand
    // such a path differently from this check.
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
      const isOwnService = verdict.addresses.some(({ address }) => isOfThisMachine(address));
      return isOwnService ? { allowed: false, why: "refused", reason: refusal } : verdict;
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
