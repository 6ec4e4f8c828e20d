import { parkRun } from "../run/park-run.ts";
import { isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { ownWait } from "./await-agents.ts";

/**
 * Parks a run whose budget is used up or cannot be counted. No executor plays the run until the session's budget is
 * changed, or, for the daily budget of the owner, until midnight UTC. The run then continues at the same step. Source:
 * decision 050.
 *
 * @returns `parked`; `steered` if a message arrived that the turn has to read first; `free` if the run may spend more
 * or is stopped.
 */
export async function waitForBudget(deps: TurnDeps, run: RunInPlay): Promise<"free" | "parked" | "steered"> {
  for (;;) {
    if (isStopped(run)) return "free";
    const exhausted = await deps.spending.findExhausted(run);
    if (!exhausted) return "free";
    const { sentence, until, budget } = exhausted;
    const wait = ownWait({ kind: "budget", subjects: [sentence], deadlineAt: until });
    if (await parkRun(deps, run, [wait], budget)) return "parked";
    if (run.isSteered) return "steered";
  }
}
