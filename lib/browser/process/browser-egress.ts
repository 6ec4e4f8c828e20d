import type { Logger } from "#lib/log/logger.ts";
import { type AddressRule, hostAndPort } from "#lib/net/address/address-rule.ts";
import { startForwardProxy } from "#lib/net/proxy/forward-proxy.ts";
import { createOwnCertificate, type OwnCertificate } from "#lib/net/proxy/own-certificate.ts";
import { createOwnOriginRule, type OwnOrigin, type OwnOrigins } from "#lib/net/proxy/own-origin.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";

/** The paths of the service's own origin that the agent's browser may open. */
const OWN_PATHS = ["/demo", "/p/", "/v/"];

const REFUSALS_MAX = 200;

/** Returns what requests to a host (with port) wait for. Undefined if they need not wait. Never rejects. */
export type HoldRequests = (host: string) => Promise<unknown> | undefined;

/** The proxy of one browser process. */
export type BrowserProxy = {
  server: string;
  /**
   * Hash of the key that the browser must accept for our own https origins. Undefined if the proxy uses no such key.
   */
  ownKeyHash: string | undefined;
  findRefusal: (url: URL) => string | undefined;
  /** Sets the session that uses the browser. Later refusals are reported with this session id. */
  nameSession: (sessionId: string) => void;
  /** Sets a function that the requests to a host wait for, see `ForwardProxyOptions.hold`. */
  holdRequests: (hold: HoldRequests) => void;
  /** Lists the hosts (with port) that were refused or not reached, each with the reason. */
  listRefusals: () => { host: string; reason: string }[];
  close: () => Promise<void>;
};

/** Decides which addresses the pages of the service's browsers may open. */
export type BrowserEgress = {
  /**
   * Returns why a page may not be opened; undefined if it may be. Resolves the host name, but does not follow
   * redirects. Either the proxy checks the target of a redirect, or the caller calls `refuse` again.
   *
   * @param sessionId the session that opens the page, if known.
   */
  refuse: (url: URL, sessionId?: string) => Promise<string | undefined>;
  /** Resolves a URL's host to the addresses that may be contacted. Empty if the host is refused or has no address. */
  resolve: (url: URL) => Promise<string[]>;
  /**
   * Blocks a port of this machine for all pages, even if `NETWORK_ALLOW` contains it.
   * @returns a function that unblocks the port.
   */
  denyPort: (port: number) => () => void;
  /**
   * Starts the proxy of one browser.
   *
   * @param options.acceptsKey whether the browser is started with `ownKeyHash`. If not, the proxy refuses our own https
   * origins.
   */
  startProxy: (options: { acceptsKey: boolean }) => Promise<BrowserProxy>;
};

/** Where one process of the service is reached: {@link OwnOrigin} without the paths. */
export type ServiceOrigin = Omit<OwnOrigin, "paths">;

/** Adds the paths to origins. Returns the same object for the same origin, because rules parse each object once. */
function withPaths(origins: ServiceOrigin | (() => readonly ServiceOrigin[])): OwnOrigins {
  const known = new WeakMap<ServiceOrigin, OwnOrigin>();
  const add = (origin: ServiceOrigin) => {
    const own = known.get(origin) ?? { ...origin, paths: OWN_PATHS };
    known.set(origin, own);
    return own;
  };
  return typeof origins === "function" ? () => origins().map(add) : add(origins);
}

/**
 * Creates the egress rules for browsers from the network guard's address rule and the service's own origins.
 *
 * @param onRefused called with each refusal; it must not throw.
 */
export function createBrowserEgress(
  rule: AddressRule,
  ownOrigin: ServiceOrigin | (() => readonly ServiceOrigin[]) | undefined,
  logger: Logger,
  onRefused: (refusal: NetworkRefusal) => void = () => {},
): BrowserEgress {
  const own = ownOrigin && withPaths(ownOrigin);
  const ownRule = own && createOwnOriginRule(own);
  let certificate: Promise<OwnCertificate> | undefined;
  /** Creates the certificate when the first browser needs it, and reuses it for later browsers. */
  const makeCertificate = (origins: readonly URL[]) => {
    certificate ??= createOwnCertificate(origins.map(({ hostname }) => hostname)).catch((error: unknown) => {
      // Lets the next browser try again.
      certificate = undefined;
      throw error;
    });
    return certificate;
  };

  async function findReason(url: URL): Promise<{ reason: string; isRefusal: boolean } | undefined> {
    const isVisibleToProxy =
      url.protocol === "http:" || ownRule?.tlsOrigins().some(({ origin }) => origin === url.origin);
    const ours = isVisibleToProxy ? ownRule?.resolve(url) : undefined;
    if (ours !== undefined) return "reason" in ours ? { reason: ours.reason, isRefusal: true } : undefined;
    const { hostname, port } = hostAndPort(url);
    const tunnel = url.protocol === "https:" ? ownRule?.refuseTunnel(hostname, port) : undefined;
    if (tunnel !== undefined) return { reason: tunnel, isRefusal: true };
    const verdict = await (ownRule ? ownRule.guard(rule) : rule).check(url);
    return verdict.allowed ? undefined : { reason: verdict.reason, isRefusal: verdict.why === "refused" };
  }

  return {
    async resolve(url) {
      const verdict = await rule.check(url);
      return verdict.allowed ? verdict.addresses.map(({ address }) => address) : [];
    },
    async refuse(url, sessionId) {
      if (url.href === "about:blank") return undefined;
      const found = await findReason(url);
      if (found?.isRefusal)
        onRefused({ source: "navigation", sessionId, host: url.host || url.protocol, reason: found.reason });
      return found?.reason;
    },
    denyPort: rule.reservePort,
    async startProxy({ acceptsKey }) {
      const tlsOrigins = acceptsKey ? (ownRule?.tlsOrigins() ?? []) : [];
      const ownCertificate = tlsOrigins.length > 0 ? await makeCertificate(tlsOrigins) : undefined;
      const refusals = new Map<string, string>();
      let sessionId: string | undefined;
      let hold: HoldRequests = () => undefined;
      const proxy = await startForwardProxy({
        rule,
        ...(own ? { own } : {}),
        ...(ownCertificate && { ownCertificate }),
        logger,
        hold: (host) => hold(host),
        onRefused({ url, why, reason }) {
          const host = URL.parse(url)?.host ?? "";
          if (why === "refused") onRefused({ source: "proxy", sessionId, host, reason });
          if (refusals.size >= REFUSALS_MAX) refusals.clear();
          const parsed = URL.parse(url);
          if (parsed) refusals.set(toHostPort(parsed), reason);
        },
      });
      const allow = rule.reservePort(proxy.port);
      return {
        server: `http://${proxy.host}:${proxy.port}`,
        ownKeyHash: ownCertificate?.spkiHash,
        findRefusal: (url) => refusals.get(toHostPort(url)),
        nameSession(id) {
          sessionId = id;
        },
        holdRequests(next) {
          hold = next;
        },
        listRefusals: () => [...refusals].map(([host, reason]) => ({ host, reason })),
        async close() {
          await proxy.close();
          allow();
        },
      };
    },
  };
}

function toHostPort(url: URL): string {
  const { hostname, port } = hostAndPort(url);
  return `${hostname}:${port}`;
}
