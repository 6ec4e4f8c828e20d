import type { BrowserLease } from "#lib/browser/browser-service.ts";

/** The leases of a host. A lease whose process has gone away can be kept for a while, so that another one continues it. */
export type KeptLeases = {
  /**
   * Returns the lease with this id; makes it if there is none. @throws Error if there are too many leases; the errors
   * of `make`.
   */
  take: (id: string, make: () => Promise<BrowserLease>) => Promise<BrowserLease>;
  /** Releases a lease. If `isKept`, releases it only if no call takes it in time. */
  leave: (id: string, isKept: boolean) => Promise<void>;
  listRefusals: (id: string) => ReturnType<BrowserLease["listRefusals"]>;
  /** @throws Error if no process has the lease with this id. */
  check: (id: string) => void;
  /** Returns the number of leases. */
  count: () => number;
};

type Kept = { lease: Promise<BrowserLease>; holders: number; end: NodeJS.Timeout | undefined };

/** Number of leases that have or wait for a place. */
const LEASES_MAX = 100;

/** @see KeptLeases @param keptMs how long a lease is kept without a process; 0: it ends with its process. */
export function createKeptLeases(keptMs: number): KeptLeases {
  const leases = new Map<string, Kept>();

  async function release(id: string, kept: Kept): Promise<void> {
    if (kept.holders > 0 || leases.get(id) !== kept) return;
    leases.delete(id);
    await (await kept.lease).release();
  }

  return {
    async take(id, make) {
      let kept = leases.get(id);
      if (!kept) {
        if (leases.size >= LEASES_MAX)
          throw new Error(`at most ${LEASES_MAX} test runs can have or wait for a browser at one host`);
        kept = { lease: make(), holders: 0, end: undefined };
        leases.set(id, kept);
      }
      clearTimeout(kept.end);
      kept.holders += 1;
      try {
        return await kept.lease;
      } catch (error) {
        kept.holders -= 1;
        if (leases.get(id) === kept) leases.delete(id);
        throw error;
      }
    },
    async leave(id, isKept) {
      const kept = leases.get(id);
      if (!kept) return;
      kept.holders -= 1;
      if (!isKept || keptMs === 0) return release(id, kept);
      clearTimeout(kept.end);
      kept.end = setTimeout(() => void release(id, kept), keptMs);
      kept.end.unref();
    },
    check(id) {
      if (!leases.has(id)) throw new Error("the lease of the test run has ended");
    },
    listRefusals: async (id) => (await leases.get(id)?.lease)?.listRefusals() ?? [],
    count: () => leases.size,
  };
}
