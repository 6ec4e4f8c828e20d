import type { AddressRule, AddressVerdict } from "../address/address-rule.ts";
import { hostAndPort } from "../address/address-rule.ts";
import { canonicalAddress } from "../address/describe-address.ts";
import { isOfThisMachine } from "../address/is-of-this-machine.ts";
import { canonicalHostname } from "../address/network-allow.ts";

/**
 * The part of one process of this service that the agent's browser may reach. `origin` is the loopback URL at which the process
 * listens. `publicOrigins` are `BASE_URL` and `PUBLIC_PAGES_ORIGIN`, if they differ from `origin`. `paths` are the
 * allowed paths: "/demo" allows that path and all paths below it; "/p/" allows all paths that begin with "/p/".
 */
export type OwnOrigin = { origin: string; publicOrigins?: string[]; paths: string[] };

/** The origins of one process, or a function that returns those of all processes. Their public origins are often the same. */
export type OwnOrigins = OwnOrigin | (() => readonly OwnOrigin[]);

/** Decides about requests to the service's own origins. */
export type OwnOriginRule = {
  /**
   * Decides about a URL. Returns the address to connect to for an allowed path of our own origins, the reason of the
   * refusal for any other path of our own origins, and undefined for a foreign URL. If several processes have the same
   * public origin, the first one of the list gets the request.
   */
  resolve(url: URL): { hostname: string; port: number } | { reason: string } | undefined;
  /**
   * Returns our public https origins. The proxy terminates TLS for them, because it must see the path of each request.
   * It forwards the requests to the service's plain http port. Empty if the service itself listens with https.
   */
  tlsOrigins: () => URL[];
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
 * Creates the rule about our own origins. The rule allows `paths`, although our origins are on loopback. It refuses all
 * other paths, even if `NETWORK_ALLOW` allows the origin. Source: `security.md`, What leaves the service.
 */
export function createOwnOriginRule(own: OwnOrigins): OwnOriginRule {
  const parsed = new WeakMap<OwnOrigin, OwnProcess>();
  const parseOnce = (origin: OwnOrigin): OwnProcess => {
    const process = parsed.get(origin) ?? parse(origin);
    parsed.set(origin, process);
    return process;
  };
  const list = () => (typeof own === "function" ? own() : [own]).map(parseOnce);

  /** Whether a process listens at this address of the machine. */
  const isListening = (address: string, port: number) =>
    list().some(({ listening }) => listening.port === port) && isOfThisMachine(address);

  function resolve(url: URL) {
    const { hostname, port } = hostAndPort(url);
    const process = list().find((each) => isNameOf(each, hostname, port));
    if (!process) return undefined;
    return isAllowedPath(process, url.pathname)
      ? process.listening
      : { reason: `${refusal}: ${url.pathname}` };
  }

  function guard(rule: AddressRule): Pick<AddressRule, "check" | "checkAddress"> {
    const checkAddress: AddressRule["checkAddress"] = (address, port, hostname) =>
      isListening(address, port) ? refusal : rule.checkAddress(address, port, hostname);
    async function check(destination: Parameters<AddressRule["check"]>[0]): Promise<AddressVerdict> {
      const verdict = await rule.check(destination);
      if (!verdict.allowed) return verdict;
      const { port } = destination instanceof URL ? hostAndPort(destination) : destination;
      const isOwnService = verdict.addresses.some(({ address }) => isListening(address, port));
      return isOwnService ? { allowed: false, why: "refused", reason: refusal } : verdict;
    }
    return { check, checkAddress };
  }

  return {
    resolve,
    tlsOrigins: () => list().flatMap(({ tlsOrigins }) => tlsOrigins),
    refuseTunnel: (hostname, port) =>
      list().some((each) => isNameOf(each, hostname, port)) ? refusal : undefined,
    guard,
  };
}

type Place = ReturnType<typeof hostAndPort>;
/** One process of this service: where it listens, and how it is called. */
type OwnProcess = { listening: Place; publicPlaces: Place[]; tlsOrigins: URL[]; paths: string[] };

function parse({ origin, publicOrigins = [], paths }: OwnOrigin): OwnProcess {
  const publicUrls = publicOrigins.map((each) => new URL(each));
  const isPlain = new URL(origin).protocol === "http:";
  return {
    listening: hostAndPort(new URL(origin)),
    publicPlaces: publicUrls.map((url) => hostAndPort(url)),
    tlsOrigins: isPlain ? publicUrls.filter(({ protocol }) => protocol === "https:") : [],
    paths,
  };
}

function isNameOf({ listening, publicPlaces }: OwnProcess, hostname: string, port: number): boolean {
  const host = canonicalAddress(hostname) ?? canonicalHostname(hostname);
  const isPublic = publicPlaces.some(
    (place) => host === canonicalHostname(place.hostname) && port === place.port,
  );
  if (isPublic) return true;
  if (port !== listening.port) return false;
  return host === listening.hostname || /(^|\.)localhost$/.test(host) || isOfThisMachine(host);
}

function isAllowedPath({ paths }: OwnProcess, pathname: string): boolean {
  // Refuses double slashes, and encoded slashes, backslashes and null characters, because the server could understand
  // such a path differently from this check.
  if (/%(2f|5c|00)|\/\//i.test(pathname)) return false;
  return paths.some((path) =>
    path.endsWith("/") ? pathname.startsWith(path) : pathname === path || pathname.startsWith(`${path}/`),
  );
}
