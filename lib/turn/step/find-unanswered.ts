import { findExpiredOfRun } from "#lib/session/store/inbox-store.ts";
import type { RunInPlay } from "../run/run-in-play.ts";
import type { TurnDeps } from "../run/turn-deps.ts";

/**
 * Says why a run has to end because no person settled one of its questions or approvals in time; undefined if it
 * continues. Only a turn of a session with `onTimeout: "fail"` that no person started ends for this reason.
 */
export async function findUnanswered(deps: TurnDeps, { claim }: RunInPlay): Promise<string | undefined> {
  if (!claim.interaction?.failsOnTimeout) return undefined;
  const title = await findExpiredOfRun(deps.db, claim);
  return title && `No person answered in time: ${title}`;
}
