import type { EngineClock } from "./clock.ts";
import type { EngineStore } from "./engine-store/engine-store.ts";
import type { Executor } from "./run/executor.ts";
import type { Registry } from "./triggers/registry.ts";

/** The engine's periodic work on its rows. */
export type EngineSweep = {
  /**
   * Renews this executor's lease, claims the runs of executors without a valid lease (if `takeAll`, of all executors),
   * and deletes old rows at most once a minute. A sole executor claims runs only if `takeAll` is set.
   */
  run: (takeAll: boolean) => Promise<void>;
  /** Whether this executor's lease is valid, as of its last renewal. */
  isLeaseHeld: () => boolean;
};

type SweepDeps = {
  store: EngineStore;
  clock: EngineClock;
  registry: Registry;
  executor: Executor;
  isSoleExecutor: boolean;
  leaseMs: number;
  keepMs: number;
};

const PRUNE_EVERY_MS = 60_000;

export function createEngineSweep(deps: SweepDeps): EngineSweep {
  const { store, clock, registry, executor, isSoleExecutor, leaseMs, keepMs } = deps;
  let leaseUntilMs = 0;
  let mayClaimAtMs = Number.NEGATIVE_INFINITY;
  let prunedAtMs = Number.NEGATIVE_INFINITY;

  return {
    async run(takeAll) {
      const nowMs = clock.now();
      // If the lease of this executor had expired, other leases may have expired for the same reason. The other
      // executors get time to renew their leases before this executor claims any runs.
      if (await store.renewLease(leaseMs)) mayClaimAtMs = nowMs + leaseMs;
      leaseUntilMs = nowMs + leaseMs;
      const functionIds = registry.all().map(({ id }) => id);
      if (takeAll || (!isSoleExecutor && nowMs >= mayClaimAtMs))
        executor.adopt(await store.claimRuns(functionIds, takeAll));
      if (nowMs - prunedAtMs < PRUNE_EVERY_MS) return;
      prunedAtMs = nowMs;
      await store.prune(keepMs);
    },
    isLeaseHeld: () => clock.now() < leaseUntilMs,
  };
}
