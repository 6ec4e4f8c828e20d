import type { HistoryMessage } from "../history/history-entry.ts";
import { recordStep } from "../run/record-step.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { hasBrowser } from "./compose-prompt.ts";
import { composeChangedState, composeState, type SessionState } from "./session-state.ts";

type StateDeps = Pick<TurnDeps, "tools" | "settings">;

/** Returns the message about the state of the session at the start of a turn; empty if the model knows the state. */
export function describeState(deps: StateDeps, run: RunInPlay): HistoryMessage[] {
  const message = composeState(stateOf(deps, run), run.history.entries);
  return message ? [message] : [];
}

/**
 * Before the first model call of an executor: tells the model what has changed since the start of the turn, if another
 * executor, or another run of the request, has begun it. Recorded as a step, so that a process that resumes the run sends
 * the same prompt.
 */
export async function recordChangedState(deps: TurnDeps, run: RunInPlay): Promise<void> {
  const { epoch, attempt } = run.claim;
  if (run.isStateTold || (epoch === 1 && attempt === 1)) return;
  run.isStateTold = true;
  const message = composeChangedState(stateOf(deps, run), run.history.entries);
  if (!message) return;
  await recordStep(deps, run, { name: `state-${epoch}`, output: {}, modelMessages: [message], events: [] });
}

function stateOf(deps: StateDeps, run: RunInPlay): SessionState {
  const { session, prompt, currentUrl, selectedUrl, variants, planning, imports, claim } = run;
  return {
    currentUrl,
    selectedUrl,
    targetPageUrls: [...(session.targetUrl === null ? [] : [session.targetUrl]), ...session.targetPageUrls],
    demoUrl: deps.settings.demoUrl,
    variants,
    planning,
    imports,
    mayAskPeople: claim.mayAskPeople,
    isSubAgent: run.agent !== undefined,
    hasBrowser: hasBrowser(deps, run),
    hasTool: (name) => prompt.tools.has(name),
  };
}
