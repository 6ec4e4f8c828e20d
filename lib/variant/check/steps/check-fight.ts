import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { readReport } from "../load/read-report.ts";
import { makeFinding } from "../make-finding.ts";

/**
 * A page that has loaded completely and undoes a change both more than `LOSSES_MAX` times and more often than
 * `LOSSES_PER_SECOND_MAX` is a finding. The runtime gives up at the same rate. It holds a change against a page that
 * renders less often, and people do not see the original in between.
 */
const LOSSES_MAX = 2;
const LOSSES_PER_SECOND_MAX = 2;
const POLL_MS = 100;

/**
 * How often the page had undone each change, by change id, at a time in milliseconds. `abandoned` has the ids of the
 * changes that the runtime no longer applies.
 */
export type Losses = { atMs: number; counts: Map<string, number>; abandoned: Set<string> };

/**
 * Counts how often the page has undone each change so far. Both the check and the runtime count; the higher number is
 * returned.
 */
export async function countLosses(load: PageLoad, { variant }: CheckContext): Promise<Losses> {
  const atMs = performance.now();
  const seen = await load.look("readLosses", null);
  const report = await readReport(load, variant);
  const reported = new Map(report?.changes.map(({ id, reapplied }) => [id, reapplied]));
  const counts = Object.entries(seen).map(([id, losses]): [string, number] => [
    id,
    Math.max(losses, reported.get(id) ?? 0),
  ]);
  const fights = (report?.changes ?? []).filter(({ state }) => state === "fight");
  return { atMs, counts: new Map(counts), abandoned: new Set(fights.map(({ id }) => id)) };
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
  atRest: Losses,
): Promise<Finding[]> {
  const readSinceRest = async () => {
    const { atMs, counts, abandoned } = await countLosses(load, check);
    const seconds = (atMs - atRest.atMs) / 1_000;
    return [...counts].map(([id, total]) => {
      const count = total - (atRest.counts.get(id) ?? 0);
      const isFrequent = count > LOSSES_MAX && count > seconds * LOSSES_PER_SECOND_MAX;
      const isFight = isFrequent || (abandoned.has(id) && !atRest.abandoned.has(id));
      return { id, count, isFight };
    });
  };
  let losses = await readSinceRest();
  const untilMs = performance.now() + check.limits.fightMs;
  while (
    losses.some(({ count }) => count > 0) &&
    losses.every(({ isFight }) => !isFight) &&
    performance.now() < untilMs
  ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    losses = await readSinceRest();
  }
  return losses.flatMap(({ id, count, isFight }) => {
    const change = target.changes.find((each) => each.id === id);
    if (!change || !isFight) return [];
    const message = `The page undid the ${change.op} of "${change.selector}" ${count} times after it had come to rest, and goes on. Choose an element that the page does not update.`;
    return [makeFinding(target, "fail", "fight", id, message)];
  });
}
