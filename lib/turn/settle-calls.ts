import type { ModelStep } from "./call-model.ts";
import { findPlace, findRecorded, type RunInPlay } from "./run-in-play.ts";
import { runTool } from "./run-tools.ts";
import { listBegunCalls } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

/**
 * Ends the calls that an executor which has gone had begun, for a run that is stopped: what came of them is reported as
 * unknown, as it would be if the run went on. Source: `security.md`, What is never lost.
 *
 * @throws StaleClaimError when the claim is over; nothing is written then.
 */
export async function settleCalls(turn: TurnDeps, run: RunInPlay): Promise<void> {
  const begun = await listBegunCalls(turn.db, run.claim.runId);
  if (begun.length === 0) return;
  const number = findPlace(run);
  const model = findRecorded<ModelStep>(run, `model-${number}`);
  if (model?.kind !== "answered") return;
  for (const call of model.calls) if (begun.includes(call.callId)) await runTool(turn, run, number, call);
}
