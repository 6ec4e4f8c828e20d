import { compactContext } from "../compaction/compact-context.ts";
import { findRecorded, isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { callModel } from "./call-model.ts";
import type { ModelStep } from "./model-step.ts";

type Called = Exclude<ModelStep, { kind: "overflowed" }>;

/**
 * Makes the model call `number` of a run. Compacts the context first if it is near its limit, and once more if the
 * provider rejects the prompt as too long.
 */
export async function callModelWithCompaction(
  deps: TurnDeps,
  run: RunInPlay,
  number: number,
): Promise<Called> {
  const name = `model-${number}`;
  const recorded = findRecorded<Called>(run, name);
  if (recorded) return recorded;
  const compacted = await compactContext(deps, run, name);
  if (compacted.kind === "failed") return compacted;
  if (compacted.kind === "stopped" || isStopped(run)) return { kind: "stopped" };
  const model = await callModel(deps, run, number);
  if (model.kind !== "overflowed") return model;
  const refused = { kind: "failed", failure: model.failure } as const;
  const compactedAgain = await compactContext(deps, run, name, true);
  if (compactedAgain.kind === "failed") return compactedAgain;
  if (compactedAgain.kind === "stopped" || isStopped(run)) return { kind: "stopped" };
  if (compactedAgain.kind === "ready") return refused;
  const again = await callModel(deps, run, number);
  return again.kind === "overflowed" ? { kind: "failed", failure: again.failure } : again;
}
