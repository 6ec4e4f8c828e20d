import type { Logger } from "#lib/log/logger.ts";
import { type AddressRule, hostAndPort } from "#lib/net/address/address-rule.ts";
import { startForwardProxy } from "#lib/net/proxy/forward-proxy.ts";
import { createOwnOriginRule, type OwnOrigin } from "#lib/net/proxy/own-origin.ts";

/** The paths of the service's own origin that the agent's browser may open. */
const OWN_PATHS = ["/demo", "/p/"];

const REFUSALS_MAX = 200;

/** The proxy of one browser process. */
export type BrowserProxy = {
  server: string;
  findRefusal: (url: URL) => string | undefined;
  close: () => Promise<void>;
};

/** Where the pages of our browsers may go. */
export type BrowserEgress = {
  /** Says why a page may not be gone to, or undefined. Names are resolved; redirects are the proxy's affair. */
  refuse: (url: URL) => Promise<string | undefined>;
  /** Addresses at which a URL's host may be connected to; none where it is refused. */
  resolve: (url: URL) => Promise<string[]>;
  /** Keeps a port of this machine (DevTools, a proxy) from all pages, whatever `NETWORK_ALLOW` lets through. @returns the undoing. */
  denyPort: (port: number) => () => void;
  startProxy: () => Promise<BrowserProxy>;
};

/** Makes the rule about where pages may go, from the guard's rule and our own origin. */
export function createBrowserEgress(
  rule: AddressRule,
  ownOrigin: Omit<OwnOrigin, "paths"> | undefined,
  logger: Logger,
): BrowserEgress {
  const own: OwnOrigin | undefined = ownOrigin && { ...ownOrigin, paths: OWN_PATHS };
  const ownRule = own && createOwnOriginRule(own);
  return {
    async resolve(url) {
      const verdict = await rule.check(url);
      return verdict.allowed ? verdict.addresses.map(({ address }) => address) : [];
    },
    async refuse(url) {
      if (url.href === "about:blank") return undefined;
      const ours = url.protocol === "http:" ? ownRule?.resolve(url) : undefined;
      if (ours !== undefined) return "reason" in ours ? ours.reason : undefined;
      const { hostname, port } = hostAndPort(url);
      const tunnel = url.protocol === "https:" ? ownRule?.refuseTunnel(hostname, port) : undefined;
      if (tunnel !== undefined) return tunnel;
      const verdict = await (ownRule ? ownRule.guard(rule) : rule).check(url);
      return verdict.allowed ? undefined : verdict.reason;
    },
    denyPort: rule.reservePort,
    async startProxy() {
      const refusals = new Map<string, string>();
      const proxy = await startForwardProxy({
        rule,
        ...(own ? { own } : {}),
        logger,
        onRefused({ url, reason }) {
          if (refusals.size >= REFUSALS_MAX) refusals.clear();
          const parsed = URL.parse(url);
          if (parsed) refusals.set(placeOf(parsed), reason);
        },
      });
      const allow = rule.reservePort(proxy.port);
      return {
        server: `http://${proxy.host}:${proxy.port}`,
        findRefusal: (url) => refusals.get(placeOf(url)),
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
