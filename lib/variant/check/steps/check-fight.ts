import type { Finding } from "../check-report.ts";
import { readLosses } from "../inside/read-changes.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { readReport } from "../load/read-report.ts";
import { makeFinding } from "../make-finding.ts";

/**
 * Maximum number of times that a page may undo a change after it has loaded completely. A higher number becomes a
 * finding.
 */
const LOSSES_MAX = 2;
const POLL_MS = 100;

/**
 * Counts how often the page has undone each change so far. Both the check and the runtime count; the higher number is
 * returned.
 */
export async function countLosses(load: PageLoad, { variant }: CheckContext): Promise<Map<string, number>> {
  const seen = await load.look(readLosses, null);
  const report = await readReport(load, variant);
  const reported = new Map(report?.changes.map(({ id, reapplied }) => [id, reapplied]));
  return new Map(Object.entries(seen).map(([id, losses]) => [id, Math.max(losses, reported.get(id) ?? 0)]));
}

/**
 * Finds changes that the page keeps undoing after it has loaded completely.
 *
 * @param atRest how often the page had undone each change when it had loaded completely.
 */
export async function checkFight(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  atRest: Map<string, number>,
): Promise<Finding[]> {
  const sinceRest = (losses: Map<string, number>) =>
    [...losses].map(([id, count]) => ({ id, count: count - (atRest.get(id) ?? 0) }));
  const isUndone = ({ count }: { count: number }) => count > 0;
  let losses = sinceRest(await countLosses(load, check));
  const untilMs = performance.now() + check.limits.fightMs;
  while (
    losses.some(isUndone) &&
    losses.every(({ count }) => count <= LOSSES_MAX) &&
    performance.now() < untilMs
  ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    losses = sinceRest(await countLosses(load, check));
  }
  return losses.flatMap(({ id, count }) => {
    const change = target.changes.find((each) => each.id === id);
    if (!change || count <= LOSSES_MAX) return [];
    const message = `The page undid the ${change.op} of "${change.selector}" ${count} times after it had come to rest, and goes on. Choose an element that the page does not update.`;
    return [makeFinding(target, "fail", "fight", id, message)];
  });
}
