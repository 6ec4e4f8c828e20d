import type { Finding } from "../check-report.ts";
import { readChanges, type SeenPage } from "../inside/read-changes.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { withLoad } from "../load/open-load.ts";
import { settleVariant } from "../load/settle-load.ts";
import { makeFinding } from "../make-finding.ts";
import type { Observation } from "./observe-load.ts";

/** How long people may see the original of a change before the change is applied. */
const FLICKER_MS_MAX = 500;
/** How much longer the longest task of the page may take with the variant. */
const TASK_MS_MAX = 200;
/** How long the variant may work after each mutation of the page. */
const MUTATION_MS_MAX = 20;

/**
 * Finds changes of which people see the original for a long time, and scripts that keep the page busy. A slow load is
 * repeated alone, and the faster one counts, because the first load shares the machine with the loads without the
 * variant.
 */
export async function judgeSpeed(
  check: CheckContext,
  target: CheckTarget,
  control: Observation,
  variant: Observation,
): Promise<Finding[]> {
  const warn = (code: Finding["code"], changeId: string | null, message: string) =>
    makeFinding(target, "warn", code, changeId, message);
  const addedMs = variant.mutationMs - control.mutationMs;
  const isBusy = addedMs > MUTATION_MS_MAX;
  const mutations = `The variant works for ${Math.round(addedMs)} ms after each mutation of the page. Let its js observe less, or less often.`;
  const busy = isBusy ? [warn("slow_mutations", null, mutations)] : [];
  const readTask = ({ longestTaskMs }: SeenPage) => longestTaskMs - control.seen.longestTaskMs;
  const isFlickering = target.changes.some(({ id }) => readFlicker(variant.seen, id) > FLICKER_MS_MAX);
  if (!isFlickering && readTask(variant.seen) <= TASK_MS_MAX) return busy;
  const again = await withLoad(check, target, true, async (load) => {
    await settleVariant(
      load,
      check,
      target,
      target.changes.map(({ id }) => id),
    );
    return load.look(readChanges, null);
  });
  const task = Math.round(Math.min(readTask(variant.seen), readTask(again)));
  const tasks = `With the variant a task of the page takes ${task} ms longer than the longest without it. Let the variant's js do less at once.`;
  const slow = task > TASK_MS_MAX ? [warn("slow_script", null, tasks)] : [];
  const flickers = target.changes.flatMap(({ id, op, selector }) => {
    const flickerMs = Math.round(Math.min(readFlicker(variant.seen, id), readFlicker(again, id)));
    if (flickerMs <= FLICKER_MS_MAX) return [];
    const message = `People see the original for ${flickerMs} ms before the ${op} of "${selector}" is applied.`;
    return [warn("flicker", id, message)];
  });
  return [...busy, ...slow, ...flickers];
}

/** How long the original of a change was painted before the change was applied, in milliseconds. */
function readFlicker({ changes, firstPaintMs }: SeenPage, id: string): number {
  const change = changes[id];
  if (!change || change.appliedAtMs === null || firstPaintMs === null || change.isVisible === false) return 0;
  return change.appliedAtMs - Math.max(change.matchedAtMs ?? change.appliedAtMs, firstPaintMs);
}
