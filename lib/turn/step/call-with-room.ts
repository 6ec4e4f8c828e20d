import { compactContext } from "../compaction/compact-context.ts";
import { findRecorded, isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { callModel, type ModelStep } from "./call-model.ts";

type Called = Exclude<ModelStep, { kind: "overflowed" }>;

/**
 * Makes the model call `number` of a run. A context near its budget is compacted first. If the provider refuses the
 * prompt as too large, the context is compacted and the call is repeated once.
 */
export async function callWithRoom(deps: TurnDeps, run: RunInPlay, number: number): Promise<Called> {
  const name = `model-${number}`;
  const recorded = findRecorded<Called>(run, name);
  if (recorded) return recorded;
  const room = await compactContext(deps, run, name);
  if (room.kind === "failed") return room;
  if (room.kind === "stopped" || isStopped(run)) return { kind: "stopped" };
  const model = await callModel(deps, run, number);
  if (model.kind !== "overflowed") return model;
  const refused = { kind: "failed", failure: model.failure } as const;
  const more = await compactContext(deps, run, name, true);
  if (more.kind === "failed") return more;
  if (more.kind === "stopped" || isStopped(run)) return { kind: "stopped" };
  if (more.kind === "ready") return refused;
  const again = await callModel(deps, run, number);
  return again.kind === "overflowed" ? { kind: "failed", failure: again.failure } : again;
}
