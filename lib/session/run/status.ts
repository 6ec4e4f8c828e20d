import type { Deliverable, RunOutcome } from "#lib/events/event.ts";
import type { DeliverableRow, RunRow } from "./run-store.ts";

/** Source: specification, Request status. */
type RequestStatus = "pending" | "running" | "completed";

/** Source: specification, Agent status. */
export type TurnState = "idle" | "running" | "compacting";

/** A request's status is that of its newest run; one that waits for an automatic retry still reads `running`. */
export function projectRequestStatus(newest: Pick<RunRow, "state" | "attempt">): RequestStatus {
  if (newest.state === "pending") return newest.attempt === 1 ? "pending" : "running";
  return newest.state === "running" ? "running" : "completed";
}

/**
 * `running` from the moment a request is accepted until none is open, `compacting` while the running run makes room in its
 * context. Source: `architecture.md`, How a request flows, 4.
 */
export function projectTurnState(openRuns: number, isCompacting = false): TurnState {
  if (openRuns === 0) return "idle";
  return isCompacting ? "compacting" : "running";
}

/** Whether a run is making room in its context now; one that ended meanwhile is not. */
export const isCompacting = (run: Pick<RunRow, "state" | "isCompacting">): boolean =>
  run.state === "running" && run.isCompacting;

/** How a run ended; null while it is open. */
export function projectOutcome(run: Pick<RunRow, "state">): RunOutcome | null {
  return run.state === "pending" || run.state === "running" ? null : run.state;
}

/**
 * The deliverable as the API shows it. A run of a structured session has one from its start: without a row it is
 * `pending` while a turn plays.
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
