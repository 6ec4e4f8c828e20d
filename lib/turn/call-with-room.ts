import { callModel, type ModelStep } from "./call-model.ts";
import { compactContext } from "./compact-context.ts";
import { findRecorded, isStopped, type RunInPlay } from "./run-in-play.ts";
import type { TurnDeps } from "./turn-deps.ts";

/**
 * Makes the n-th model call of a run in a context that has room for it: one that is near its budget is compacted before,
 * and one that the provider refuses as too large is compacted then, and tried once more.
 */
export async function callWithRoom(
  turn: TurnDeps,
  run: RunInPlay,
  number: number,
): Promise<Exclude<ModelStep, { kind: "overflowed" }>> {
  // A call that was made needs no room any more; what the next one needs is found when it is its turn.
  const made = findRecorded<Exclude<ModelStep, { kind: "overflowed" }>>(run, `model-${number}`);
  if (made) return made;
  const room = await compactContext(turn, run, number);
  if (room.kind === "failed") return room;
  if (room.kind === "stopped" || isStopped(run)) return { kind: "stopped" };
  const model = await callModel(turn, run, number);
  if (model.kind !== "overflowed") return model;
  const more = await compactContext(turn, run, number, true);
  // Where nothing could go, the provider's refusal stands.
  if (more.kind === "ready" && !findRecorded(run, `compact-${number}`))
    return { kind: "failed", failure: model.failure };
  return more.kind === "failed" ? more : callWithRoom(turn, run, number);
}
