import type { Deliverable, RunOutcome } from "#lib/events/event.ts";
import type { DeliverableRow, RunRow } from "../store/run-store.ts";

/** Source: specification, Request status. */
type RequestStatus = "pending" | "running" | "completed";

/** Source: specification, Agent status. */
export type TurnState = "idle" | "running" | "compacting";

/** Computes a request's status from its newest run. It is `running` while an automatic retry is pending. */
export function projectRequestStatus(newest: Pick<RunRow, "state" | "attempt">): RequestStatus {
  if (newest.state === "pending") return newest.attempt === 1 ? "pending" : "running";
  return newest.state === "running" ? "running" : "completed";
}

/**
 * Computes the turn state: `running` while a run is open, `compacting` while the running run compacts its context.
 * Source: `architecture.md`, How a request flows, 4.
 */
export function projectTurnState(openRuns: number, isCompacting = false): TurnState {
  if (openRuns === 0) return "idle";
  return isCompacting ? "compacting" : "running";
}

/** Whether a run is compacting its context. A run that ended during a compaction does not count. */
export const isCompacting = (run: Pick<RunRow, "state" | "isCompacting">): boolean =>
  run.state === "running" && run.isCompacting;

/** Returns the outcome of a run; null while it is open. */
export function projectOutcome(run: Pick<RunRow, "state">): RunOutcome | null {
  return run.state === "pending" || run.state === "running" ? null : run.state;
}

/**
 * Converts a deliverable to its API form. In a session with an output schema, every run has a deliverable from its
 * start. The deliverable is `pending` while its row does not exist.
 */
export function projectDeliverable(runId: string, row: DeliverableRow | undefined): Deliverable {
  if (!row || row.status === "pending") return { runId, status: "pending" };
  if (row.status === "ready") return { runId, status: "ready", value: row.value };
  return {
    runId,
    status: "failed",
    error: row.error ?? "",
    ...(row.rawText !== null && { rawText: row.rawText }),
    ...(row.violations !== null && { violations: row.violations }),
  };
}
