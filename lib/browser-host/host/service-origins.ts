import type { ServiceOrigin } from "#lib/browser/process/browser-egress.ts";
import type { Link } from "#lib/host-link/link.ts";
import type { ServiceCalls } from "../host-calls.ts";

/** The origins of the processes of the service that are or were connected to this host. */
export type ServiceOrigins = {
  /** Adds the origin of a process. @throws Error if too many different origins are connected. */
  add: (link: Pick<Link<ServiceCalls>, "ended">, origin: ServiceOrigin) => void;
  /**
   * Lists the origins, those of connected processes first. Those of others are kept, because a process whose connection
   * ended may still run, and pages must not reach it.
   */
  list: () => readonly ServiceOrigin[];
};

const ORIGINS_MAX = 64;

/** @see ServiceOrigins */
export function createServiceOrigins(): ServiceOrigins {
  const entries = new Map<string, { origin: ServiceOrigin; links: Set<object> }>();
  let sorted: readonly ServiceOrigin[] = [];

  function sort(): void {
    const all = [...entries.values()];
    const used = all.filter(({ links }) => links.size > 0);
    const unused = all.filter(({ links }) => links.size === 0);
    sorted = [...used, ...unused].map(({ origin }) => origin);
  }

  function makeRoom(): void {
    if (entries.size < ORIGINS_MAX) return;
    const [unused] = [...entries].find(([, { links }]) => links.size === 0) ?? [];
    if (unused === undefined)
      throw new Error(`processes with ${ORIGINS_MAX} different origins are connected to this browser host`);
    entries.delete(unused);
  }

  return {
    add(link, { origin, publicOrigins = [] }) {
      const key = JSON.stringify([origin, publicOrigins]);
      if (!entries.has(key)) makeRoom();
      const entry = entries.get(key) ?? { origin: { origin, publicOrigins }, links: new Set() };
      entry.links.add(link);
      entries.set(key, entry);
      sort();
      void link.ended.then(() => {
        entry.links.delete(link);
        // The origin whose process went away last is forgotten last.
        if (entry.links.size === 0 && entries.delete(key)) entries.set(key, entry);
        sort();
      });
    },
    list: () => sorted,
  };
}
