import { setTimeout as sleep } from "node:timers/promises";
import type { DomSnapshot } from "#lib/injected/check/snapshot-dom.ts";
import type { Finding } from "../check-report.ts";
import { type DomDifference, listDifferences, withoutNoise } from "../dom-difference.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { type PageLoad, withLoad } from "../load/open-load.ts";
import { waitForControl, waitForLoad, waitForVariant } from "../load/wait-for-load.ts";
import { makeFinding } from "../make-finding.ts";
import type { CheckedChange } from "./check-changes.ts";

const TRACES_SHOWN = 5;
/**
 * Pauses between the snapshots of the second round, in milliseconds. They have no common period, so content that the
 * page itself toggles differs between some snapshots. A trace of the variant is in all snapshots.
 */
const PAUSES_MS = [130, 310, 470, 730];

/**
 * Reverts the variant on a separate load, and compares the document with loads without the variant. Differences between
 * the loads without the variant are noise, and are ignored. Any other difference is a trace of the variant if it is
 * also in all snapshots of a second round.
 *
 * @param control at least two snapshots without the variant, and their age.
 * @param changes outcomes of the changes that are applied. Sets their `revert`.
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
  const moreControls = await withLoad(check, target, false, async (load) => {
    await waitForControl(load, check, target, control.ageMs);
    return takeSnapshots(load, PAUSES_MS);
  });
  const second = await findTraces(
    check,
    target,
    { ...control, snapshots: [...control.snapshots, ...moreControls] },
    changes,
    PAUSES_MS,
  );
  const traces = second.filter(({ looseKey }) => first.some((trace) => trace.looseKey === looseKey));
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

/** Copies the document at once, and again after each pause. */
async function takeSnapshots(load: PageLoad, pausesMs: number[]): Promise<DomSnapshot[]> {
  const snapshots = [await load.look("snapshotDom", null)];
  for (const pauseMs of pausesMs) {
    await sleep(pauseMs);
    snapshots.push(await load.look("snapshotDom", null));
  }
  return snapshots;
}

/**
 * Loads the page with the variant and reverts it.
 *
 * @returns the differences from the page without the variant that exist both directly after reverting and after each
 * pause. Noise is left out.
 */
function findTraces(
  check: CheckContext,
  target: CheckTarget,
  { snapshots, ageMs }: { snapshots: DomSnapshot[]; ageMs: number },
  changes: CheckedChange[],
  pausesMs: number[] = [],
): Promise<DomDifference[]> {
  const ids = changes.map(({ id }) => id);
  return withLoad(check, target, true, async (load) => {
    await waitForVariant(load, check, target, ids, ageMs);
    await load.evaluateInPage(`window.__agentSessionVariants?.[${JSON.stringify(check.variant)}]?.revert()`);
    await waitForLoad(load, check);
    const reverted = await takeSnapshots(load, pausesMs);
    const [control, ...others] = snapshots.map(({ root }) => root);
    if (!control) return [];
    const noise = others.flatMap((other) => listDifferences(control, other));
    const [traces = [], ...later] = reverted.map(({ root }) =>
      withoutNoise(listDifferences(control, root), noise),
    );
    // Compares loose keys, because elements may have moved between two snapshots.
    return traces.filter(({ looseKey }) =>
      later.every((found) => found.some((trace) => trace.looseKey === looseKey)),
    );
  });
}
