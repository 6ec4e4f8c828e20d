import { currentRun, isWorking, type SessionState } from "../state/session-state.ts";
import { STATE_WORDS, stateOfRun, type Tone } from "./state-words.ts";

/** What the browser's tab shows of a session: the beginning of its title, and the tone of the dot on its icon. */
type TabWords = { mark: string; tone: Tone };

const markOf = ({ approvals, handovers }: SessionState): string =>
  handovers.length === 1 ? "Handover" : approvals.length === 1 ? "Approval" : "Question";

/**
 * Describes the session for the browser's tab: first what waits for a person, with its count if it is several. The outcome of a turn is shown only until a person has looked at the tab.
 *
 * @param endedUnseen whether the last turn ended while the tab was hidden, and the tab is still hidden.
 */
export function describeTab(state: SessionState, endedUnseen: boolean): TabWords | null {
  const waiting = state.elicitations.length + state.approvals.length + state.handovers.length;
  if (waiting > 1) return { mark: `${waiting} waiting`, tone: "attention" };
  if (waiting === 1) return { mark: markOf(state), tone: "attention" };
  if (isWorking(state)) return { mark: "Working", tone: "busy" };
  const run = currentRun(state);
  if (!run || !endedUnseen) return null;
  const { title, tone } = STATE_WORDS[stateOfRun(run, state.deliverables)];
  return { mark: title, tone };
}
