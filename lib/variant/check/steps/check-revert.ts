import type { Finding } from "../check-report.ts";
import { type DomDifference, listDifferences, withoutNoise } from "../dom-difference.ts";
import { type DomSnapshot, snapshotDom } from "../inside/snapshot-dom.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { withLoad } from "../load/open-load.ts";
import { settleLoad, settleVariant } from "../load/settle-load.ts";
import { makeFinding } from "../make-finding.ts";
import type { CheckedChange } from "./judge-changes.ts";

const TRACES_SHOWN = 5;

/**
 * Takes the variant back on a page of its own and compares the document with those of loads without the variant. What
 * differs among these changes by itself. A trace counts when a second round finds it again.
 * @param control documents without the variant, at least two, and their age.
 * @param changes outcomes of the changes that are applied; their `revert` is set.
 */
export async function checkRevert(
  check: CheckContext,
  target: CheckTarget,
  control: { snapshots: DomSnapshot[]; ageMs: number },
  changes: CheckedChange[],
): Promise<Finding[]> {
  const first = await findTraces(check, target, control, changes);
  for (const outcome of changes) outcome.revert = "ok";
  if (first.length === 0) return [];
  const again = await withLoad(check, target, false, async (load) => {
    await settleLoad(load, check, control.ageMs);
    return load.look(snapshotDom, null);
  });
  const second = await findTraces(
    check,
    target,
    { ...control, snapshots: [...control.snapshots, again] },
    changes,
  );
  const traces = second.filter(({ key }) => first.some((trace) => trace.key === key));
  for (const outcome of changes)
    if (traces.some(({ changeId }) => changeId === outcome.id)) outcome.revert = "failed";
  return traces
    .slice(0, TRACES_SHOWN)
    .map(({ changeId, description }) =>
      makeFinding(
        target,
        "fail",
        "revert_left_trace",
        changeId,
        `After the variant was taken back, ${description}.`,
      ),
    );
}

/** Loads the page with the variant, takes it back, and lists what is left. */
function findTraces(
  check: CheckContext,
  target: CheckTarget,
  { snapshots, ageMs }: { snapshots: DomSnapshot[]; ageMs: number },
  changes: CheckedChange[],
): Promise<DomDifference[]> {
  const ids = changes.map(({ id }) => id);
  return withLoad(check, target, true, async (load) => {
    await settleVariant(load, check, target, ids, ageMs);
    await load.evaluateInPage(`window.__agentSessionVariants?.[${JSON.stringify(check.variant)}]?.revert()`);
    await settleLoad(load, check);
    const reverted = await load.look(snapshotDom, null);
    const [control, ...others] = snapshots.map(({ root }) => root);
    if (!control) return [];
    const noise = others.flatMap((other) => listDifferences(control, other));
    return withoutNoise(listDifferences(control, reverted.root), noise);
  });
}
