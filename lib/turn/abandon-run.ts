import { claimRun } from "./claim-run.ts";
import { closeRun, type RunEnd } from "./close-run.ts";
import { openRun } from "./open-run.ts";
import { readEndable } from "./read-endable.ts";
import { settleCalls } from "./settle-calls.ts";
import type { PlayJob } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

const END: RunEnd = {
  outcome: "errored",
  failure: { message: "The service could not play this turn; its log has the reason.", isRetryable: false },
};

/**
 * Ends a run whose executor gave up, so that the session goes on: its messages stand in the transcript, and what became of
 * calls that were begun is told. Where even that cannot be written, the run ends all the same. A run for which there is a
 * newer job is left to that one.
 */
export async function abandonRun(turn: TurnDeps, job: PlayJob, reason: string): Promise<void> {
  const { runId } = job;
  turn.logger.error({ runId, reason }, "a run was given up");
  const claimed = await claimRun(turn, job, new Date());
  if (claimed.status !== "claimed") return;
  try {
    await openRun(turn, claimed.run);
    await settleCalls(turn, claimed.run);
    await closeRun(turn, claimed.run, END);
  } catch (error) {
    turn.logger.error({ err: error, runId }, "a run that was given up could not be ended in order");
    const run = await readEndable(turn, runId);
    if (run) await closeRun(turn, run, END, "open");
  }
}
