import type { TurnStopper } from "#db/schema/unions.ts";
import { findNewestRun, findRun, isOpen, listOpenRuns } from "#lib/session/store/run-store.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { findWakeJob, sendWake, wakeRun } from "#lib/session/waiting/waiting.ts";
import { isStaleClaim, toClaim } from "../record/claim.ts";
import { listStepOutputs, readRun, requestCancel } from "../record/turn-store.ts";
import { STOPPED_REASON } from "../run/stop-registry.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { endUnfinishedCalls } from "../step/run-tools.ts";
import { claimRun } from "./claim-run.ts";
import { closeRun } from "./close-run.ts";
import type { Endable } from "./describe-end.ts";

/** Who stopped a turn, as `turn.stopping` says. `name` is the label of a person's share link, if it has one. */
export type StoppedBy = { by: TurnStopper; name: string | null };

const END = { outcome: "cancelled", reason: STOPPED_REASON } as const;

/**
 * Stops the current turn of a session. A run that an executor plays ends between or within its steps. A parked run and
 * a pending retry end at once. Queued requests are not changed. @returns the id of the run to stop, if there is one.
 */
export async function stopTurn(
  deps: TurnDeps,
  sessionId: string,
  by: StoppedBy,
): Promise<string | undefined> {
  const [first] = await listOpenRuns(deps.db, sessionId);
  if (!first) return undefined;
  await stopRun(deps, first.run.id, by);
  return first.run.id;
}

/** Stops a run in any state. If it has already failed, stops its retry instead. The first stop has an event. */
export async function stopRun(deps: TurnDeps, runId: string, by?: StoppedBy): Promise<void> {
  if (!(await recordCancel(deps, runId, by))) return stopRetry(deps, runId, by);
  deps.stops.stop(runId, STOPPED_REASON);
  await endParked(deps, runId);
  // Some runs have no executor that could notice the stop: a pending retry, and possibly the first run of a sub-agent.
  // Such a run is ended here, but only if its messages are in the transcript. Otherwise it stays in the queue: the
  // executor that plays it later adds the messages to the transcript and then ends the run.
  const run = await readEndable(deps, runId);
  if (!run || run.requestMessages.some(({ seq }) => seq === null)) return;
  if (run.session.parentSessionId !== null || (await isWaiting(deps, runId))) await removeQueued(deps, runId);
}

/** Stores the request to stop a run that is still open. @returns false if the run has ended. */
async function recordCancel(deps: TurnDeps, runId: string, by: StoppedBy | undefined): Promise<boolean> {
  const found = by && (await findRun(deps.db, runId));
  if (!by || !found) return requestCancel(deps.db, runId, new Date());
  return deps.log.transact(found.sessionId, async (tx, emit) => {
    const session = await lockSession(tx, found.sessionId);
    const run = session && (await findRun(tx, runId));
    if (!run || !(await requestCancel(tx, runId, new Date()))) return false;
    const { requestId, cancelRequestedAt } = run;
    if (cancelRequestedAt === null)
      emit({ kind: "turn.stopping", requestId, runId, source: session.source, ...by });
    return true;
  });
}

/**
 * Wakes a parked run and ends it in this process, so that a stop does not depend on the engine. The job for the woken
 * run is sent as well: if this process ends before it has ended the run, the engine plays the run and ends it.
 */
async function endParked(deps: TurnDeps, runId: string): Promise<void> {
  const run = await findRun(deps.db, runId);
  if (!run?.parkedAt) return;
  const jobs = await wakeRun(deps, { sessionId: run.sessionId, runId }, "stopped");
  const job = findWakeJob(jobs);
  if (!job) return sendWake(deps, jobs);
  try {
    await deps.stops.withSignal(runId, async (signal) => {
      const claimed = await claimRun(deps, { ...job.data, player: "stop" }, signal);
      if (claimed.status !== "claimed") return;
      await endUnfinishedCalls(deps, claimed.run);
      await closeRun(deps, claimed.run, END);
    });
  } catch (error) {
    // The engine has claimed the run in the meantime and ends it.
    if (!isStaleClaim(error)) throw error;
  } finally {
    await sendWake(deps, jobs);
  }
}

async function isWaiting(deps: TurnDeps, runId: string): Promise<boolean> {
  const run = await findRun(deps.db, runId);
  if (run?.state !== "pending") return false;
  const [first] = await listOpenRuns(deps.db, run.sessionId);
  return first?.run.id !== runId || (run.notBefore !== null && run.notBefore > new Date());
}

/** Ends a run that has not started. @returns false if the run has started or ended, or does not exist. */
export async function removeQueued(deps: TurnDeps, runId: string): Promise<boolean> {
  const run = await readEndable(deps, runId);
  if (!run) return false;
  return (await closeRun(deps, run, END, "pending")) === "ended";
}

async function stopRetry(deps: TurnDeps, runId: string, by: StoppedBy | undefined): Promise<void> {
  const run = await findRun(deps.db, runId);
  const newest = run && (await findNewestRun(deps.db, run.requestId));
  if (newest && newest.attempt > run.attempt) await stopRun(deps, newest.id, by);
}

/** Reads what is needed to end a run that this process does not play. Undefined if it has ended or does not exist. */
export async function readEndable(deps: TurnDeps, runId: string): Promise<Endable | undefined> {
  const row = await readRun(deps.db, runId);
  if (!row || !isOpen(row.run)) return undefined;
  const { run, session, requestMessages, requestOrigin } = row;
  const outputs = new Map(await listStepOutputs(deps.db, runId));
  const claim = toClaim(run, session, requestOrigin);
  return { claim, session, requestMessages, startedAt: run.startedAt, outputs };
}
