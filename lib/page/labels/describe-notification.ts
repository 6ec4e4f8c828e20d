import { currentRun, isWorking, type SessionState } from "../state/session-state.ts";
import { STATE_WORDS, stateOfRun } from "./state-words.ts";

/** A notification of the browser. Notifications with the same `tag` replace each other. */
type NotificationWords = { title: string; body: string; tag: string };

/**
 * Describes what a person wants to be told while the tab is hidden: that the agent asks, that a
 * call needs approval, that it needs a person in its browser, or that the turn has ended.
 *
 * @param before the state before the change.
 * @returns null if the change is nothing to tell. A stop by this person is not.
 */
export function describeNotification(before: SessionState, state: SessionState): NotificationWords | null {
  const tag = state.session.id;
  const body = state.agent?.name ?? state.session.title;
  const asked = state.elicitations.find(
    ({ elicitationId }) => !before.elicitations.some((each) => each.elicitationId === elicitationId),
  );
  if (asked) return { title: "The agent asks you", body: asked.question, tag };
  const approval = state.approvals.find(({ id }) => !before.approvals.some((each) => each.id === id));
  if (approval) return { title: "The agent needs your approval", body: approval.title, tag };
  const handover = state.handovers.find(({ id }) => !before.handovers.some((each) => each.id === id));
  if (handover) return { title: "The agent needs you in its browser", body: handover.title, tag };
  const run = currentRun(state);
  if (!run || !isWorking(before) || isWorking(state) || state.ownStops.includes(run.runId)) return null;
  return { title: STATE_WORDS[stateOfRun(run, state.deliverables)].title, body, tag };
}
