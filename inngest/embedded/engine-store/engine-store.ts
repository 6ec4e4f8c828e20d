import type { Database } from "#db/client.ts";
import { queryRows } from "#db/statement.ts";
import { claimRuns, prune, releaseLease, renewLease } from "./lease-statements.ts";
import {
  beginRun,
  commitChange,
  completeRuns,
  findAwaitedNames,
  findOpenRuns,
  findWaits,
  loadRun,
  recordStep,
} from "./run-statements.ts";
import type { Change, Fence } from "./store-change.ts";
import type { StoreContext } from "./store-context.ts";

export type { ClaimedRun } from "./lease-statements.ts";
export type { Snapshot, StepRow } from "./run-statements.ts";
export type { Change, NewRun, Receipt, StepWrite, WokenRun } from "./store-change.ts";

export type EngineStore = ReturnType<typeof createEngineStore>;

/**
 * Creates the store of the engine's rows. No other part of the engine uses Drizzle. Every method except `prune`
 * executes a single statement, so it is one transaction.
 *
 * @param self identifies this executor and its process.
 * @param now the engine's clock.
 */
export function createEngineStore(
  db: Database,
  self: Pick<StoreContext, "executorId" | "process">,
  now: () => number,
) {
  const context: StoreContext = { query: (statement) => queryRows(db, statement), ...self, now };
  return {
    commit: (change: Change) => commitChange(context, change),
    recordStep: (fence: Fence, step: { stepId: string; name: string; output: unknown }) =>
      recordStep(context, fence, step),
    completeRuns: (ends: (Fence & { output: unknown })[]) => completeRuns(context, ends),
    load: (runId: string, epoch: number) => loadRun(context, runId, epoch),
    beginRun: (runId: string, epoch: number, nowMs: number) => beginRun(context, runId, epoch, nowMs),
    findWaits: (eventNames: string[]) => findWaits(context, eventNames),
    findAwaitedNames: () => findAwaitedNames(context),
    findOpenRuns: (functionIds: string[]) => findOpenRuns(context, functionIds),
    renewLease: (leaseMs: number) => renewLease(context, leaseMs),
    releaseLease: () => releaseLease(context),
    claimRuns: (functionIds: string[], takeAll: boolean) => claimRuns(context, functionIds, takeAll),
    prune: (keepMs: number) => prune(context, keepMs),
  };
}
