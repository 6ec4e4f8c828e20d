import type { SessionStateWord } from "#db/schema/unions.ts";
import type { Deliverable, RunView } from "../state/view-types.ts";

/** The color in which a state is shown. */
export type Tone = "quiet" | "busy" | "attention" | "good" | "bad";

/** The title and the tone of each session state, for lists of sessions and for the session page. */
export const STATE_WORDS: Record<SessionStateWord, { tone: Tone; title: string }> = {
  ready: { tone: "quiet", title: "Ready" },
  starting: { tone: "busy", title: "Starting" },
  working: { tone: "busy", title: "Working" },
  waiting: { tone: "attention", title: "Waiting for you" },
  compacting: { tone: "busy", title: "Compacting" },
  retrying: { tone: "attention", title: "Retrying" },
  done: { tone: "good", title: "Done" },
  page_error: { tone: "bad", title: "Page not reached" },
  no_result: { tone: "bad", title: "No valid result" },
  failed: { tone: "bad", title: "Failed" },
  stopped: { tone: "quiet", title: "Stopped" },
};

/** Returns the state of a succeeded run. It is `done` only if the result is valid and the page was reached. */
function outcomeOf(run: RunView, deliverables: Deliverable[]): "done" | "no_result" | "page_error" {
  const deliverable = deliverables.find(({ runId }) => runId === run.runId);
  if (deliverable?.status === "failed") return "no_result";
  return run.pageError === null ? "done" : "page_error";
}

/** Returns the session state that belongs to a run, such as the current run of the session. */
export function stateOfRun(run: RunView, deliverables: Deliverable[]): SessionStateWord {
  switch (run.state) {
    case "pending":
      return run.notBefore === null ? "starting" : "retrying";
    case "running":
      return "working";
    case "succeeded":
      return outcomeOf(run, deliverables);
    case "cancelled":
      return "stopped";
    case "errored":
      return "failed";
  }
}
