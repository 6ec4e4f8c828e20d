import type { Held } from "#lib/injected/check/read-held.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { untilApplied } from "../load/wait-for-load.ts";
import type { LostReaction } from "./compare-reactions.ts";

/**
 * Finds the changes that held before a control was operated, and no longer do, although the page has their elements.
 * The control may have made the page render again, so the changes get time to be applied again.
 *
 * @param held the state before the control was operated.
 * @param label the control, for the messages.
 */
export async function findLostChanges(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  held: Held,
  label: string,
): Promise<(LostReaction & { changeId: string })[]> {
  const ids = Object.keys(held).filter((id) => held[id]?.isApplied);
  let now = await load.look("readHeld", ids);
  const isLost = (id: string) => {
    const state = now[id];
    return state !== undefined && state.matched > 0 && !state.isApplied;
  };
  const isRepeated = (id: string) => {
    const state = now[id];
    return state !== undefined && state.copies > Math.max(held[id]?.copies ?? 0, state.matched);
  };
  const suspicious = ids.filter(isLost);
  if (suspicious.length > 0) {
    await untilApplied(load, check, suspicious, check.limits.rerenderMs);
    now = await load.look("readHeld", ids);
  }
  const when = `after people use ${label}, which renders its surroundings again`;
  return target.changes.flatMap(({ id, op, selector }): (LostReaction & { changeId: string })[] => {
    const name = `${op} of "${selector}"`;
    if (isLost(id)) {
      const message = `The ${name} is lost ${when}. Choose a selector that also matches what the page renders then.`;
      return [{ code: "lost_at_render", changeId: id, message }];
    }
    if (!isRepeated(id)) return [];
    const message = `The HTML of the ${name} is on the page ${now[id]?.copies} times ${when}.`;
    return [{ code: "repeated", changeId: id, message }];
  });
}
