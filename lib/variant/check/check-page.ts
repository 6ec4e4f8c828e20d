import type { OriginalElement } from "#lib/injected/check/disturb-change.ts";
import type { DomSnapshot } from "#lib/injected/check/snapshot-dom.ts";
import type { CheckedPage, Finding } from "./check-report.ts";
import type { CheckContext, CheckTarget } from "./load/check-context.ts";
import { openLoad, type PageLoad, withLoad } from "./load/open-load.ts";
import { copyProblems, type PageProblems } from "./load/page-problems.ts";
import { settleAll } from "./load/wait-for-all.ts";
import { waitForControl, waitForLoad, waitForVariant } from "./load/wait-for-load.ts";
import { checkOperation } from "./operate/check-operation.ts";
import { proposeOpening } from "./operate/propose-opening.ts";
import { type CheckedChange, checkChanges, concludeChanges, isProven } from "./steps/check-changes.ts";
import { checkFight } from "./steps/check-fight.ts";
import { checkLayout } from "./steps/check-layout.ts";
import { checkLinks } from "./steps/check-links.ts";
import { checkNavigation } from "./steps/check-navigation.ts";
import { checkPolicies, checkProblems, readPaintToApplied } from "./steps/check-page-problems.ts";
import { type CheckedRequirement, checkRequirements } from "./steps/check-requirements.ts";
import { checkRerender } from "./steps/check-rerender.ts";
import { checkRevert } from "./steps/check-revert.ts";
import { checkScope } from "./steps/check-scope.ts";
import { checkSpeed } from "./steps/check-speed.ts";
import { checkStays } from "./steps/check-stays.ts";
import { checkStyles } from "./steps/check-styles.ts";
import { compareAccessibility } from "./steps/compare-accessibility.ts";
import { assertHere, type Observation, observeLoad } from "./steps/observe-load.ts";
import { type Clips, type ClipTaker, createClipTaker } from "./steps/take-clips.ts";
import type { PagePictures } from "./steps/take-pictures.ts";

type PageCheckDeps = { requirements: CheckedRequirement[] };

/** What the check found on one page at one viewport width. */
export type PageResult = {
  page: Omit<CheckedPage, "pictures">;
  pictures: PagePictures;
  clips: Clips;
  findings: Finding[];
  notes: string[];
};

/**
 * Observations of a page whose content has stopped changing: without the variant (`control`) and with it (`variant`).
 */
type Pair = {
  control: Observation;
  variant: Observation;
  variantLoad: PageLoad;
  /** The elements that each change matches, by change id, in their state without the variant. */
  originals: Record<string, OriginalElement[]>;
  /** Three snapshots without the variant: two of the same load at different times, and one of a second load. */
  snapshots: DomSnapshot[];
  /** Errors and failed requests of the two loads without the variant. */
  problems: PageProblems[];
  /**
   * Age of the loads when they were observed, in milliseconds since navigation start. The loads that test reverting
   * become at least as old before they are observed.
   */
  ageMs: number;
};

/** Codes of defects that several steps can find. */
const SHARED_CODES = new Set<Finding["code"]>(["repeated", "lost_at_render"]);

/**
 * Examines a page at one viewport width. Opens the page twice without the variant and once with it. Then opens it two
 * more times with the variant: one load tests navigation, the other tests reverting. If the page has changes and none
 * of them is applied, these two tests are left out. Both tests may open further loads to confirm a problem. Each load
 * has its own browser context.
 *
 * @throws PageFailure, or Error with a sentence, if the page cannot be examined.
 */
export async function checkPage(
  deps: PageCheckDeps,
  check: CheckContext,
  target: CheckTarget,
): Promise<PageResult> {
  const loads: PageLoad[] = [];
  const open = async (hasVariant: boolean) => {
    const load = await openLoad(check, target, hasVariant);
    loads.push(load);
    return load;
  };
  try {
    const opened = await settleAll([open(false), open(true), open(false)]);
    return await prove(deps, check, target, await observePair(check, target, opened));
  } finally {
    await Promise.all(loads.map((load) => load.close()));
  }
}

/** Waits until the pages of all loads have stopped changing, and observes them at the same age. */
async function observePair(
  check: CheckContext,
  target: CheckTarget,
  [controlLoad, variantLoad, secondControl]: [PageLoad, PageLoad, PageLoad],
): Promise<Pair> {
  const ids = target.changes.map(({ id }) => id);
  const ages = await settleAll([
    waitForControl(controlLoad, check, target),
    waitForVariant(variantLoad, check, target, ids),
    waitForControl(secondControl, check, target),
  ]);
  const ageMs = Math.max(...ages);
  await settleAll([controlLoad, variantLoad, secondControl].map((load) => waitForLoad(load, check, ageMs)));
  for (const load of [controlLoad, secondControl, variantLoad]) assertHere(target, load);
  // Observing changes nodes of the page, to which the page may react.
  const originals = await controlLoad.look("readOriginals", null);
  const [control, variant, snapshot] = await settleAll([
    observeLoad(check, target, controlLoad),
    observeLoad(check, target, variantLoad),
    secondControl.look("snapshotDom", null),
  ]);
  const problems = [copyProblems(controlLoad.problems), copyProblems(secondControl.problems)];
  await Promise.all([controlLoad.close(), secondControl.close()]);
  const snapshots = [...control.snapshots, snapshot];
  return { control, variant, variantLoad, originals, snapshots, problems, ageMs };
}

async function prove(
  deps: PageCheckDeps,
  check: CheckContext,
  target: CheckTarget,
  pair: Pair,
): Promise<PageResult> {
  const { control, variant } = pair;
  const checked = checkChanges(target, { ...variant, control: control.seen });
  const changes = checked.changes;
  const clips = createClipTaker(check, target);
  await clips.take(pair.variantLoad, checked.findings);
  const proven = changes.filter(isProven);
  // These spend most of their time waiting for pages of their own.
  const [examined, returned, operated] = await settleAll([
    examineVariant(deps, check, target, pair, { changes, clips }),
    checkReturn(check, target, pair, { changes: proven, clips, hasChanges: changes.length > 0 }),
    checkOperation(check, target, proven),
  ]);
  for (const change of changes)
    if (operated.findings.some(({ code, changeId }) => code === "lost_at_render" && changeId === change.id))
      change.rerender = "failed";
  const scope = checkScope(target, control.seen, variant.seen);
  const speed = await checkSpeed(check, target, control, variant);
  const page = {
    url: target.url,
    viewport: target.viewport,
    changes,
    paintToAppliedMs: readPaintToApplied(variant.seen),
    layoutShift: speed.layoutShift,
  };
  const findings = withoutRepetitions([
    ...(await proposeOpening(check, target, pair.variantLoad, checked.findings, operated.openers)),
    ...scope,
    ...examined.findings,
    ...returned,
    ...operated.findings,
    ...speed.findings,
  ]);
  concludeChanges(changes, findings);
  const pictures = { title: variant.seen.title, before: control.picture, after: variant.picture };
  await clips.take(pair.variantLoad, operated.findings);
  const notes = [...describeGaps(target, pair), ...examined.notes, ...operated.notes, ...clips.notes];
  return { page, pictures, clips: clips.clips, findings, notes };
}

/** Leaves out findings that an earlier step has reported already: two steps may meet the same defect of a change. */
const withoutRepetitions = (findings: Finding[]): Finding[] =>
  findings.filter(
    ({ code, changeId }, index) =>
      changeId === null ||
      !SHARED_CODES.has(code) ||
      findings.findIndex((each) => each.code === code && each.changeId === changeId) === index,
  );

/**
 * Examines the load that shows the variant. The last step overwrites elements and may break the page, so all other
 * steps run before it.
 */
async function examineVariant(
  deps: PageCheckDeps,
  check: CheckContext,
  target: CheckTarget,
  { control, variant, variantLoad, originals, problems }: Pair,
  { changes, clips }: { changes: CheckedChange[]; clips: ClipTaker },
): Promise<{ findings: Finding[]; notes: string[] }> {
  const findings = [
    ...(await checkFight(check, target, variantLoad, variant.losses)),
    ...(await checkStyles(target, variantLoad)),
    ...(await checkRequirements(check, target, variantLoad, deps.requirements)),
    ...(await compareAccessibility(target, variantLoad, control.violations, variant.violations)),
    ...checkLayout(target, control.layout, variant.layout),
    ...(await checkPolicies(target, variantLoad.response, variant.seen, check.tagUrl)),
    ...checkProblems(target, variantLoad.problems, problems),
  ];
  await clips.take(variantLoad, findings);
  // Requests for dead links would be among the problems, so this step follows them.
  const links = await checkLinks(check, target, variantLoad, control.seen, variant.seen);
  findings.push(...links.findings);
  const steps = [
    () => checkStays(check, target, variantLoad, changes),
    () => checkRerender(check, target, variantLoad, changes, originals),
  ];
  for (const step of steps) {
    const found = await step();
    await clips.take(variantLoad, found);
    findings.push(...found);
  }
  return { findings, notes: links.notes };
}

/**
 * Checks that the changes are applied again after the browser has left the page and returned. Also checks that
 * reverting the changes restores the page.
 *
 * @param changes the changes that are applied. `hasChanges` says whether the page has any.
 */
async function checkReturn(
  check: CheckContext,
  target: CheckTarget,
  { snapshots, problems, variantLoad, ageMs }: Pair,
  { changes, clips, hasChanges }: { changes: CheckedChange[]; clips: ClipTaker; hasChanges: boolean },
): Promise<Finding[]> {
  if (hasChanges && changes.length === 0) return [];
  const ids = changes.map(({ id }) => id);
  // `checkProblems` reports the errors of the load that is open already, so the navigation step must not report the
  // same errors for its own load.
  const found = copyProblems(variantLoad.problems);
  const leave = () =>
    withLoad(check, target, true, async (load) => {
      await waitForVariant(load, check, target, ids);
      const findings = await checkNavigation(check, target, load, changes, [...problems, found]);
      await clips.take(load, findings);
      return findings;
    });
  const [left, reverted] = await settleAll([
    leave(),
    checkRevert(check, target, { snapshots, ageMs }, changes),
  ]);
  return [...left, ...reverted];
}

function describeGaps(
  { url, viewport }: CheckTarget,
  { snapshots, control, variant, variantLoad }: Pair,
): string[] {
  const tagGap = variantLoad.tagGap();
  const unread = control.violations.unread ?? variant.violations.unread;
  const subject = `${url} (${viewport}) is very large:`;
  const isCut = snapshots.some((snapshot) => snapshot.isCut);
  return [
    ...(tagGap === undefined
      ? []
      : [
          `${url} (${viewport}): the script did not run as a visitor loads it. It was injected, because ${tagGap}.`,
        ]),
    ...(unread === null ? [] : [`${url} (${viewport}): ${unread}.`]),
    ...(variant.violations.isWhole
      ? []
      : [`${subject} contrast and target size were checked for the elements of the changes only.`]),
    ...(isCut ? [`${subject} after reverting, only its first 30,000 elements were compared.`] : []),
  ];
}
