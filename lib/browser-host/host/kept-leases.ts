import type { BrowserLease } from "#lib/browser/browser-service.ts";

/** The leases of a host. A lease whose process has gone away is kept for a while, so that another one continues it. */
export type KeptLeases = {
  /** Returns the lease with this id; makes it if there is none. */
  take: (id: string, make: () => Promise<BrowserLease>) => Promise<BrowserLease>;
  /** Releases a lease. If `isKept`, releases it only if no call takes it in time. */
  leave: (id: string, isKept: boolean) => Promise<void>;
  listRefusals: BrowserListing;
};

type BrowserListing = (id: string) => ReturnType<BrowserLease["listRefusals"]>;
type Kept = { lease: Promise<BrowserLease>; holders: number; end: NodeJS.Timeout | undefined };

/** How long a lease is kept without a process. The calls of a function that continues a test run are closer together. */
const KEPT_MS = 60_000;

/** @see KeptLeases */
export function createKeptLeases(): KeptLeases {
  const leases = new Map<string, Kept>();

  async function release(id: string, kept: Kept): Promise<void> {
    if (kept.holders > 0) return;
    leases.delete(id);
    await (await kept.lease).release();
  }

  return {
    async take(id, make) {
      const kept: Kept = leases.get(id) ?? { lease: make(), holders: 0, end: undefined };
      leases.set(id, kept);
      clearTimeout(kept.end);
      kept.holders += 1;
      try {
        return await kept.lease;
      } catch (error) {
        leases.delete(id);
        throw error;
      }
    },
    async leave(id, isKept) {
      const kept = leases.get(id);
      if (!kept) return;
      kept.holders -= 1;
      if (!isKept) return release(id, kept);
      kept.end = setTimeout(() => void release(id, kept), KEPT_MS);
      kept.end.unref();
    },
    listRefusals: async (id) => (await leases.get(id)?.lease)?.listRefusals() ?? [],
  };
}
