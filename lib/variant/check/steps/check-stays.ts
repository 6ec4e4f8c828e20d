import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { untilApplied } from "../load/wait-for-load.ts";
import { makeFinding } from "../make-finding.ts";
import { type CheckedChange, isProven } from "./check-changes.ts";

/**
 * Checks that the changes are still applied after the steps before this one. The page's scripts may have undone changes
 * during those steps.
 *
 * @param changes outcomes of all changes. Sets `hydration` to failed for a change that was lost.
 */
export async function checkStays(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  changes: CheckedChange[],
): Promise<Finding[]> {
  const proven = changes.filter(isProven);
  const ids = proven.map(({ id }) => id);
  if (await untilApplied(load, check, ids, check.limits.rerenderMs)) return [];
  const seen = await load.look("readChanges", null);
  return proven.flatMap((outcome) => {
    const found = seen.changes[outcome.id];
    if (found?.isApplied) return [];
    outcome.hydration = "failed";
    const change = target.changes.find(({ id }) => id === outcome.id);
    const message = `The ${change?.op} of "${change?.selector}" was applied, and was lost after the page had come to rest.`;
    return [makeFinding(target, "fail", "lost_at_hydration", outcome.id, message)];
  });
}
