import type { EngineStore } from "../engine-store/engine-store.ts";
import { checkpointBodySchema } from "../protocol.ts";

/** `recorded`: go on. `stale`: another executor has the run, or it is over. `malformed`: nothing was read. */
type CheckpointOutcome = "recorded" | "stale" | "malformed";

/**
 * Records the steps a running call has finished, before the SDK may run the next one; it sends them one by one, or
 * as many together as the function's `bufferedSteps` says.
 * The ticket is what the call was given (`run:epoch`).
 */
export async function recordCheckpoint(
  store: EngineStore,
  runId: string,
  body: unknown,
): Promise<CheckpointOutcome> {
  const parsed = checkpointBodySchema.safeParse(body);
  if (!parsed.success || parsed.data.run_id !== runId) return "malformed";
  const epoch = Number(parsed.data.qi_id.slice(parsed.data.qi_id.lastIndexOf(":") + 1));
  if (!Number.isInteger(epoch)) return "malformed";
  const fence = { runId, epoch };
  const steps = parsed.data.steps.map((op) => ({
    stepId: op.id,
    name: op.displayName ?? op.name ?? op.id,
    output: op.data ?? null,
  }));
  const [first] = steps;
  const isHeld =
    first && steps.length === 1
      ? await store.recordStep(fence, first)
      : (await store.commit({ fence, steps: steps.map((step) => ({ ...step, state: "done" })) })).held;
  return isHeld ? "recorded" : "stale";
}
