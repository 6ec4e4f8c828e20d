import { findRun, listOpenRuns } from "#lib/session/store.ts";
import { readClaim } from "./claim-run.ts";
import { closeRun } from "./close-run.ts";
import { requestCancel } from "./store.ts";
import type { TurnDeps } from "./turn-deps.ts";

export const STOPPED_REASON = "the turn was stopped";

/**
 * Stops the turn of a session: a running one ends between or within its steps, one that waits for a retry ends at once.
 * Queued requests are not touched. @returns the run that was told to stop, if there was one.
 */
export async function stopTurn(turn: TurnDeps, sessionId: string): Promise<string | undefined> {
  const [first] = await listOpenRuns(turn.db, sessionId);
  if (!first) return undefined;
  await stopRun(turn, first.run.id);
  return first.run.id;
}

/** Stops one open run, by whatever state it is in. */
export async function stopRun(turn: TurnDeps, runId: string): Promise<void> {
  await requestCancel(turn.db, runId, new Date());
  turn.stops.stop(runId, STOPPED_REASON);
  await closePending(turn, runId);
}

/** A run that has not started has no executor to see the wish: it is closed here. */
async function closePending(turn: TurnDeps, runId: string): Promise<void> {
  const run = await findRun(turn.db, runId);
  if (run?.state !== "pending") return;
  const claim = await readClaim(turn, runId);
  if (claim) await closeRun(turn, claim, { outcome: "cancelled", reason: STOPPED_REASON });
}
