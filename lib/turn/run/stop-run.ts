import { findNewestRun, findRun, isOpen, listOpenRuns } from "#lib/session/run/run-store.ts";
import { toClaim } from "../record/claim.ts";
import { listStepOutputs, readRun, requestCancel } from "../record/turn-store.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { closeRun, type Endable } from "./close-run.ts";
import { STOPPED_REASON } from "./stop-registry.ts";

/**
 * Stops the turn of a session: one that plays, or is about to, ends between or within its steps; one that waits for a
 * retry ends at once. Queued requests are not touched. @returns the run that was told to stop, if there was one.
 */
export async function stopTurn(turn: TurnDeps, sessionId: string): Promise<string | undefined> {
  const [first] = await listOpenRuns(turn.db, sessionId);
  if (!first) return undefined;
  await stopRun(turn, first.run.id);
  return first.run.id;
}

/** Stops a run, by whatever state it is in; where it has just failed, the retry that would follow. */
export async function stopRun(turn: TurnDeps, runId: string): Promise<void> {
  if (!(await requestCancel(turn.db, runId, new Date()))) return stopRetry(turn, runId);
  turn.stops.stop(runId, STOPPED_REASON);
  // One that waits for the time of a retry has no executor to see the wish. A message that waits for its turn keeps it, and
  // is placed as that ends: only who takes it back removes it.
  if ((await isWaiting(turn, runId)) && !(await hasWaitingMessages(turn, runId)))
    await removeQueued(turn, runId);
}

async function hasWaitingMessages(turn: TurnDeps, runId: string): Promise<boolean> {
  const run = await readEndable(turn, runId);
  return run?.asked.some(({ seq }) => seq === null) ?? false;
}

async function isWaiting(turn: TurnDeps, runId: string): Promise<boolean> {
  const run = await findRun(turn.db, runId);
  if (run?.state !== "pending") return false;
  const [first] = await listOpenRuns(turn.db, run.sessionId);
  return first?.run.id !== runId || (run.notBefore !== null && run.notBefore > new Date());
}

/** Ends a run that has not started. @returns false when it has, or has ended. */
export async function removeQueued(turn: TurnDeps, runId: string): Promise<boolean> {
  const run = await readEndable(turn, runId);
  if (!run) return false;
  const end = { outcome: "cancelled", reason: STOPPED_REASON } as const;
  return (await closeRun(turn, run, end, "pending")) === "ended";
}

async function stopRetry(turn: TurnDeps, runId: string): Promise<void> {
  const run = await findRun(turn.db, runId);
  const newest = run && (await findNewestRun(turn.db, run.requestId));
  if (newest && newest.attempt > run.attempt) await stopRun(turn, newest.id);
}

/** An open run without an executor of its own, as its end needs it; undefined once it has ended. */
export async function readEndable(turn: TurnDeps, runId: string): Promise<Endable | undefined> {
  const row = await readRun(turn.db, runId);
  if (!row || !isOpen(row.run)) return undefined;
  const { run, session, asked } = row;
  const outputs = new Map(await listStepOutputs(turn.db, runId));
  return { claim: toClaim(run, session), session, asked, startedAt: run.startedAt, outputs };
}
