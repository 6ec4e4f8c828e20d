import type { Logger } from "#lib/log/logger.ts";
import { type AddressRule, hostAndPort } from "#lib/net/address/address-rule.ts";
import { startForwardProxy } from "#lib/net/proxy/forward-proxy.ts";
import { createOwnCertificate, type OwnCertificate } from "#lib/net/proxy/own-certificate.ts";
import { createOwnOriginRule, type OwnOrigin } from "#lib/net/proxy/own-origin.ts";
import type { NetworkRefusal } from "#lib/security-log/security-events.ts";

/** The paths of the service's own origin that the agent's browser may open. */
const OWN_PATHS = ["/demo", "/p/", "/v/"];

const REFUSALS_MAX = 200;

/** The proxy of one browser process. */
export type BrowserProxy = {
  server: string;
  /** Hash of the public key that the browser has to accept for our own https origins; undefined if there are none. */
  ownKeyHash: string | undefined;
  findRefusal: (url: URL) => string | undefined;
  /** Names the session whose browser it is; refusals are reported with it from then on. */
  nameSession: (sessionId: string) => void;
  /** The hosts with their ports that were not reached, each with the reason. */
  listRefusals: () => { host: string; reason: string }[];
  close: () => Promise<void>;
};

/** Decides which addresses the pages of the service's browsers may open. */
export type BrowserEgress = {
  /**
   * Returns why a page may not be opened, or undefined. Names are resolved; redirects are checked by the proxy.
   *
   * @param sessionId the session that wants to open it, if it is known.
   */
  refuse: (url: URL, sessionId?: string) => Promise<string | undefined>;
  /** The addresses at which a URL's host may be reached; empty when it is refused. */
  resolve: (url: URL) => Promise<string[]>;
  /** Blocks a port of this machine (DevTools, a proxy) for all pages, whatever `NETWORK_ALLOW` says. @returns unblocks it. */
  denyPort: (port: number) => () => void;
  /**
   * @param options.acceptsKey whether the browser is started with `ownKeyHash`; in another one our own https origins are
   * refused.
   */
  startProxy: (options: { acceptsKey: boolean }) => Promise<BrowserProxy>;
};

/**
 * Makes the egress from the guard's address rule and the service's own origin.
 *
 * @param onRefused is called with each refusal; it must not throw.
 */
export function createBrowserEgress(
  rule: AddressRule,
  ownOrigin: Omit<OwnOrigin, "paths"> | undefined,
  logger: Logger,
  onRefused: (refusal: NetworkRefusal) => void = () => {},
): BrowserEgress {
  const own: OwnOrigin | undefined = ownOrigin && { ...ownOrigin, paths: OWN_PATHS };
  const ownRule = own && createOwnOriginRule(own);
  let certificate: Promise<OwnCertificate> | undefined;
  /** Made once, when the first browser needs it. */
  const makeCertificate = (origins: readonly URL[]) => {
    certificate ??= createOwnCertificate(origins.map(({ hostname }) => hostname)).catch((error: unknown) => {
      // The next browser tries again.
      certificate = undefined;
      throw error;
    });
    return certificate;
  };

  async function findReason(url: URL): Promise<{ reason: string; isRefusal: boolean } | undefined> {
    const isSeen =
      url.protocol === "http:" || ownRule?.tlsOrigins.some(({ origin }) => origin === url.origin);
    const ours = isSeen ? ownRule?.resolve(url) : undefined;
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
      const tlsOrigins = acceptsKey ? (ownRule?.tlsOrigins ?? []) : [];
      const ownCertificate = tlsOrigins.length > 0 ? await makeCertificate(tlsOrigins) : undefined;
      const refusals = new Map<string, string>();
      let sessionId: string | undefined;
      const proxy = await startForwardProxy({
        rule,
        ...(own ? { own } : {}),
        ...(ownCertificate && { ownCertificate }),
        logger,
        onRefused({ url, why, reason }) {
          const host = URL.parse(url)?.host ?? "";
          if (why === "refused") onRefused({ source: "proxy", sessionId, host, reason });
          if (refusals.size >= REFUSALS_MAX) refusals.clear();
          const parsed = URL.parse(url);
          if (parsed) refusals.set(placeOf(parsed), reason);
        },
      });
      const allow = rule.reservePort(proxy.port);
      return {
        server: `http://${proxy.host}:${proxy.port}`,
        ownKeyHash: ownCertificate?.spkiHash,
        findRefusal: (url) => refusals.get(placeOf(url)),
        nameSession(id) {
          sessionId = id;
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

function placeOf(url: URL): string {
  const { hostname, port } = hostAndPort(url);
  return `${hostname}:${port}`;
}
