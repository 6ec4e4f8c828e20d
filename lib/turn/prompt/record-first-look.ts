import { storableText } from "#db/storable.ts";
import { needsApproval } from "#lib/tools/tool-policy.ts";
import { recordStep } from "../run/record-step.ts";
import { browserSessionOf, findRecorded, isStopped, type RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";
import { addedMessage } from "./added-message.ts";

/** Whether {@link recordFirstLook} will show the model the page. */
export function needsFirstLook(run: RunInPlay): boolean {
  const { claim, session, prompt } = run;
  const hasTarget = session.targetUrl !== null || session.targetPageUrls.length > 0;
  if (!hasTarget || claim.attempt !== 1 || findRecorded(run, "look")) return false;
  const look = prompt.tools.get("dom_query");
  return look !== undefined && !needsApproval(session.tools.approve, look);
}

/**
 * In a session that has a target page and the tool `dom_query`, whose calls need no approval, shows the model the page in the live browser before the
 * first model call of a request. The look is a recorded step, so that a process that resumes the run sends the same
 * prompt.
 */
export async function recordFirstLook(deps: TurnDeps, run: RunInPlay): Promise<void> {
  if (!needsFirstLook(run)) return;
  const { claim } = run;
  const seen = await deps.firstLook(
    { sessionId: claim.sessionId, browserSessionId: browserSessionOf(run) },
    run.signal,
  );
  deps.stops.throwIfShuttingDown();
  if (isStopped(run)) return;
  const message = addedMessage(
    storableText(`The page in the live browser at the start of this turn:\n${seen}`),
  );
  await recordStep(deps, run, { name: "look", output: {}, modelMessages: [message], events: [] });
}
