import { isStaleClaim } from "../record/claim.ts";
import type { PlayJob } from "../record/turn-store.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { endUnfinishedCalls } from "../step/run-tools.ts";
import { claimRun } from "./claim-run.ts";
import { closeRun } from "./close-run.ts";
import type { RunEnd } from "./describe-end.ts";
import { openRun } from "./open-run.ts";
import { readEndable } from "./stop-run.ts";

const END: RunEnd = {
  outcome: "errored",
  failure: { message: "The service could not play this turn; its log has the reason.", isRetryable: false },
};

/**
 * Ends a run that the engine gave up, so that the session's next run can start. The messages of its request are added
 * to the transcript, and its unfinished tool calls get results (`endUnfinishedCalls`). If that cannot be written, the run
 * still ends. A run that this job cannot claim (for example because the run is parked or has a newer job), or that
 * another executor claims meanwhile, is not changed.
 */
export async function abandonRun(deps: TurnDeps, job: PlayJob, reason: string): Promise<void> {
  const { runId } = job;
  deps.logger.error({ runId, reason }, "a run was given up");
  await deps.stops.withSignal(runId, (signal) => endAbandoned(deps, job, signal));
}

async function endAbandoned(deps: TurnDeps, job: PlayJob, signal: AbortSignal): Promise<void> {
  const { runId } = job;
  const claimed = await claimRun(deps, job, signal);
  if (claimed.status !== "claimed") return;
  try {
    await openRun(deps, claimed.run);
    await endUnfinishedCalls(deps, claimed.run);
    await closeRun(deps, claimed.run, END);
  } catch (error) {
    if (isStaleClaim(error)) return;
    deps.logger.error(
      { err: error, runId },
      "ending a run that was given up failed; retrying without its tool calls",
    );
    const run = await readEndable(deps, runId);
    if (run) await closeRun(deps, run, END, "open");
    await deps.elicitations.abandon({ runId });
  }
}
