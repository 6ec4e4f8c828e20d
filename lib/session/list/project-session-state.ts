import type { SessionStateWord } from "#db/schema/unions.ts";
import type { LastRun, OpenRun } from "./list-store.ts";

/** A session's state, and a sentence that explains it; null if the state needs no explanation. */
type SessionStateView = { state: SessionStateWord; stateReason: string | null };

/**
 * Computes what a session is doing, or how its last turn ended. `done` means that the turn did its work: a turn whose
 * result failed, or whose page was not reached, has another state although its run succeeded.
 */
export function projectSessionState(open: OpenRun | undefined, last: LastRun | undefined): SessionStateView {
  if (open) return projectOpen(open, last);
  switch (last?.state) {
    case "errored":
      return { state: "failed", stateReason: last.error };
    case "cancelled":
      return { state: "stopped", stateReason: null };
    case "succeeded":
      if (last.deliverable?.status === "failed")
        return { state: "no_result", stateReason: last.deliverable.error };
      if (last.pageError !== null) return { state: "page_error", stateReason: last.pageError };
      if (last.awaitsGo) return { state: "waiting", stateReason: "The plan waits for a go-ahead." };
      return { state: "done", stateReason: null };
    default:
      return { state: "ready", stateReason: null };
  }
}

function projectOpen(open: OpenRun, last: LastRun | undefined): SessionStateView {
  if (open.state === "pending") {
    return open.attempt > 1
      ? { state: "retrying", stateReason: last?.error ?? null }
      : { state: "starting", stateReason: null };
  }
  if (open.question !== null) return { state: "waiting", stateReason: open.question };
  // A wait for a person without a question is that of a call that needs approval.
  if (open.waitsFor === "person") return { state: "waiting", stateReason: "A tool call waits for approval." };
  if (open.waitsFor === "control")
    return { state: "waiting", stateReason: "A person has control of the browser." };
  if (open.waitsFor === "budget") return { state: "waiting", stateReason: open.exhausted };
  return { state: open.isCompacting ? "compacting" : "working", stateReason: null };
}
