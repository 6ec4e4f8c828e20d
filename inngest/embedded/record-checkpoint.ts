import { checkpointBodySchema } from "./protocol.ts";
import type { EngineStore, StepWrite } from "./store.ts";

/** `recorded`: go on. `stale`: another executor has the run, or it is over. `malformed`: nothing was read. */
export type CheckpointOutcome = "recorded" | "stale" | "malformed";

/**
 * Records the steps a running call has finished, in one statement, before the SDK may run the next one.
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
  const steps = parsed.data.steps.map(
    (op): StepWrite => ({
      stepId: op.id,
      name: op.displayName ?? op.name ?? op.id,
      state: "done",
      output: op.data ?? null,
    }),
  );
  const receipt = await store.commit({ fence: { runId, epoch }, steps });
  return receipt.held ? "recorded" : "stale";
}
