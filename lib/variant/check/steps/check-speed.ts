import type { SeenPage } from "#lib/injected/check/read-changes.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { withLoad } from "../load/open-load.ts";
import { waitForLoad, waitForVariant } from "../load/wait-for-load.ts";
import { makeFinding } from "../make-finding.ts";
import { type MutationCost, measureCost } from "./measure-cost.ts";
import type { Observation } from "./observe-load.ts";

/** How long people may see the original of a change before the change is applied, or an empty page. */
const FLICKER_MS_MAX = 500;
/** Highest layout shift that Core Web Vitals rate as good. */
const LAYOUT_SHIFT_MAX = 0.1;
/** How much longer the longest task of the page may take with the variant. */
const TASK_MS_MAX = 200;
/** How long the variant may work after each mutation of the page. */
const MUTATION_MS_MAX = 20;
/** A variant that keeps one more node or listener for each mutation grows without end. */
const GROWTH_MIN = 1;

type Speed = Pick<Observation, "seen" | "cost">;

/**
 * Finds changes of which people see the original for a long time, variants that hide the page at first, scripts that keep the page busy, and scripts whose
 * nodes or listeners grow with each mutation of the page, and layout shift. What seems wrong is measured again, one load
 * after the other, and the better result counts: the first loads share the machine, and their garbage counts.
 *
 * @returns also the layout shift that the variant adds.
 */
export async function checkSpeed(
  check: CheckContext,
  target: CheckTarget,
  control: Observation,
  variant: Observation,
): Promise<{ findings: Finding[]; layoutShift: number }> {
  const shift = addShift(variant, control);
  const isShifting = shift > LAYOUT_SHIFT_MAX;
  const isFlickering = target.changes.some(({ id }) => readFlicker(variant.seen, id) > FLICKER_MS_MAX);
  const isBusy = addTask(variant, control) > TASK_MS_MAX;
  const isCostly = isHigh(subtract(variant.cost, control.cost));
  const isBlank = addBlank(variant, control) > FLICKER_MS_MAX;
  if (!isShifting && !isFlickering && !isBusy && !isCostly && !isBlank)
    return { findings: [], layoutShift: shift };
  const again = await measureAgain(check, target, true, isCostly);
  const layoutShift = Math.min(shift, addShift(again, control));
  const shifts = `The variant adds a layout shift of ${layoutShift}; above ${LAYOUT_SHIFT_MAX} people notice it.`;
  const shifted =
    layoutShift > LAYOUT_SHIFT_MAX ? [makeFinding(target, "warn", "layout_shift", null, shifts)] : [];
  const task = Math.round(Math.min(addTask(variant, control), addTask(again, control)));
  const tasks = `With the variant a task of the page takes ${task} ms longer than the longest without it. Let the variant's js do less at once.`;
  const slow = task > TASK_MS_MAX ? [makeFinding(target, "warn", "slow_script", null, tasks)] : [];
  const flickers = target.changes.flatMap(({ id, op, selector }) => {
    const flickerMs = Math.round(Math.min(readFlicker(variant.seen, id), readFlicker(again.seen, id)));
    if (flickerMs <= FLICKER_MS_MAX) return [];
    const message = `People see the original for ${flickerMs} ms before the ${op} of "${selector}" is applied.`;
    return [makeFinding(target, "warn", "flicker", id, message)];
  });
  const blankMs = Math.round(Math.min(addBlank(variant, control), addBlank(again, control)));
  const blankText = `With the variant people see an empty page for ${blankMs} ms longer than without it. Let its js or css hide only what changes, and not the page.`;
  if (blankMs > FLICKER_MS_MAX) flickers.push(makeFinding(target, "warn", "flicker", null, blankText));
  if (!isCostly) return { findings: [...shifted, ...slow, ...flickers], layoutShift };
  const controlAgain = await measureAgain(check, target, false, true);
  const costs = [subtract(variant.cost, control.cost), subtract(again.cost, controlAgain.cost)];
  // A page that adds and removes nodes by itself can have more in one measurement than in the other by chance.
  if (costs.every(isHigh)) {
    const third = await measureAgain(check, target, true, true);
    costs.push(subtract(third.cost, (await measureAgain(check, target, false, true)).cost));
  }
  return { findings: [...shifted, ...checkCosts(target, costs), ...slow, ...flickers], layoutShift };
}

async function measureAgain(
  check: CheckContext,
  target: CheckTarget,
  hasVariant: boolean,
  isCostly: boolean,
): Promise<Speed> {
  return withLoad(check, target, hasVariant, async (load) => {
    const ids = target.changes.map(({ id }) => id);
    await (hasVariant ? waitForVariant(load, check, target, ids) : waitForLoad(load, check));
    const seen = await load.look("readChanges", null);
    const none = { workMs: 0, nodes: 0, listeners: 0 };
    return { seen, cost: isCostly ? await measureCost(load, check, true) : none };
  });
}

/** Judges how much more a mutation costs with the variant, measured several times. */
function checkCosts(target: CheckTarget, costs: MutationCost[]): Finding[] {
  const workMs = Math.round(Math.min(...costs.map((cost) => cost.workMs)));
  const work = `The variant works for ${workMs} ms after each mutation of the page. Let its js observe less, or less often.`;
  const [nodes, listeners] = (["nodes", "listeners"] as const).map((name) =>
    Math.floor(Math.min(...costs.map((cost) => cost[name]))),
  );
  const grown = [
    ...((nodes ?? 0) >= GROWTH_MIN ? [`${nodes} nodes`] : []),
    ...((listeners ?? 0) >= GROWTH_MIN ? [`${listeners} event listeners`] : []),
  ].join(" and ");
  const leak = `With the variant the page keeps ${grown} more after each mutation. Let the variant's js remove what it adds.`;
  return [
    ...(workMs > MUTATION_MS_MAX ? [makeFinding(target, "warn", "slow_mutations", null, work)] : []),
    ...(grown === "" ? [] : [makeFinding(target, "warn", "leak", null, leak)]),
  ];
}

const subtract = (cost: MutationCost, other: MutationCost): MutationCost => ({
  workMs: cost.workMs - other.workMs,
  nodes: cost.nodes - other.nodes,
  listeners: cost.listeners - other.listeners,
});

const isHigh = ({ workMs, nodes, listeners }: MutationCost): boolean =>
  workMs > MUTATION_MS_MAX || nodes >= GROWTH_MIN || listeners >= GROWTH_MIN;

/** How much longer the longest task is than the longest of the page without the variant, in milliseconds. */
const addTask = ({ seen }: Speed, control: Speed): number => seen.longestTaskMs - control.seen.longestTaskMs;

const addShift = ({ seen }: Speed, control: Speed): number =>
  Math.max(0, Math.round((seen.layoutShift - control.seen.layoutShift) * 1_000) / 1_000);

/** How much longer the page shows nothing with the variant, in milliseconds. */
const addBlank = ({ seen }: Speed, control: Speed): number => seen.blankMs - control.seen.blankMs;

/** How long the original of a change was painted before the change was applied, in milliseconds. */
function readFlicker({ changes, firstPaintMs }: SeenPage, id: string): number {
  const change = changes[id];
  if (!change || change.appliedAtMs === null || firstPaintMs === null || change.isVisible === false) return 0;
  return change.appliedAtMs - Math.max(change.matchedAtMs ?? change.appliedAtMs, firstPaintMs);
}
