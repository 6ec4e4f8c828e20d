import type { FrameMessage, FrameState } from "#lib/client/frame-messages.ts";
import type { LiveStatus } from "#lib/client/live-connection.ts";
import type { SessionStore } from "../state/page-store.ts";
import type { SessionState } from "../state/session-state.ts";

/** What the reports need of the frame. */
type ReportDeps = {
  store: Pick<SessionStore, "getState" | "subscribe">;
  scope: "session" | "live-view";
  post: (message: FrameMessage) => void;
};

/** Reports to the host page what happens in the session. */
export type HostReports = {
  /** Reports that the status of the live connection has changed. */
  setStatus: (status: LiveStatus) => void;
  stop: () => void;
};

/** Sends `ready`, and then every change of the state, each settled result and each new annotation. */
export function startReports({ store, scope, post }: ReportDeps, status: LiveStatus): HostReports {
  const first = store.getState();
  let live = status;
  let previous = first;
  let reported = toFrameState(first, live);
  post({
    type: "ready",
    sessionId: first.session.id,
    role: first.role,
    scope,
    hasBrowser: first.session.hasBrowser,
    state: reported,
    deliverable: settledOf(first).at(-1) ?? null,
  });

  function report(): void {
    const state = store.getState();
    const next = toFrameState(state, live);
    if (JSON.stringify(next) !== JSON.stringify(reported)) post({ type: "state", state: next });
    reported = next;
    const results = new Set(settledOf(previous).map(({ runId }) => runId));
    for (const deliverable of settledOf(state))
      if (!results.has(deliverable.runId)) post({ type: "deliverable", deliverable });
    const annotations = new Set(previous.annotations.map(({ id }) => id));
    for (const annotation of state.annotations)
      if (!annotations.has(annotation.id)) post({ type: "annotation", annotation: { ...annotation } });
    previous = state;
  }
  const stop = store.subscribe(report);
  return {
    setStatus(next) {
      live = next;
      report();
    },
    stop,
  };
}

const settledOf = ({ deliverables }: SessionState) =>
  deliverables.filter(({ status }) => status !== "pending");

/** Describes the state for the host page. */
function toFrameState(state: SessionState, live: LiveStatus): FrameState {
  const { runs, browser, control } = state;
  return {
    connection: live.state === "closed" ? "connecting" : live.state,
    turnState: state.turnState,
    activeRunId: runs.find((run) => run.state === "running")?.runId ?? null,
    lastRunId: runs.findLast((run) => run.state !== "pending")?.runId ?? null,
    control: control === "you" ? "frame" : control,
    browserStatus: browser.status,
    browserUrl: browser.currentUrl,
    openQuestions: state.elicitations.length,
    queuedMessages: state.queue.length,
  };
}
