import { findUnansweredOfRun } from "#lib/session/store/elicitation-store.ts";
import { oneLine } from "#lib/text/one-line.ts";
import { shorten } from "#lib/text/shorten.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";

const QUESTION_MAX = 200;

/**
 * Says why a run has to end because no person answered one of its questions in time; undefined if it continues. Only a
 * turn of a session with `onTimeout: "fail"` that no person started ends for this reason.
 */
export async function findUnanswered(deps: TurnDeps, { claim }: RunInPlay): Promise<string | undefined> {
  if (!claim.interaction?.failsOnTimeout) return undefined;
  const question = await findUnansweredOfRun(deps.db, claim.runId);
  return question && `No person answered in time: ${shorten(oneLine(question), QUESTION_MAX)}`;
}
