import type { ElementLayout, PageLayout } from "#lib/injected/check/measure-layout.ts";
import type { Finding } from "../check-report.ts";
import type { CheckTarget } from "../load/check-context.ts";
import { makeFinding } from "../make-finding.ts";

type ExaminedChange = CheckTarget["changes"][number];

/**
 * Finds problems that the variant causes in the layout: elements that extend beyond the page, are cut off, are covered,
 * or cover controls.
 */
export function checkLayout(target: CheckTarget, before: PageLayout, after: PageLayout): Finding[] {
  const findings: Finding[] = [];
  let isExplained = false;
  for (const change of target.changes) {
    const { id, selector, op } = change;
    const subject = `of "${selector}" (${op})`;
    const fail = (code: Finding["code"], message: string) =>
      findings.push(makeFinding(target, "fail", code, id, message));
    const find = (has: (layout: ElementLayout) => boolean) => findNew(change, before, after, has);
    if (find(({ isBeyond }) => isBeyond)) {
      isExplained = true;
      fail(
        "overflow",
        `The element ${subject} extends beyond the side of the page, which is ${after.clientWidth} px wide.`,
      );
    }
    if (find(({ isCut }) => isCut))
      fail("overflow", `The content ${subject} is cut off: it does not fit into its box.`);
    const covered = find(({ coveredBy }) => coveredBy !== null);
    if (covered) fail("covered", `The element ${subject} is covered by ${covered.coveredBy}.`);
  }
  return [
    ...findings,
    ...(isExplained ? [] : checkWidth(target, before, after)),
    ...checkObstructed(target, before, after),
  ];
}

/** Finds the first element of a change that has a defect with the variant but not without it. */
function findNew(
  { id, op }: ExaminedChange,
  before: PageLayout,
  after: PageLayout,
  has: (layout: ElementLayout) => boolean,
): ElementLayout | undefined {
  const controls = before.changes[id] ?? [];
  return after.changes[id]?.find((layout, index) => {
    const control = controls[index];
    // Without the variant, inserted elements do not exist. Their layouts are compared with the layouts of the elements
    // that the insertion refers to.
    const isExisting = op === "insert" ? controls.some(has) : control !== undefined && has(control);
    return has(layout) && !isExisting;
  });
}

/** Creates a finding if the variant makes the page scroll sideways, or makes it scroll further sideways. */
function checkWidth(target: CheckTarget, before: PageLayout, after: PageLayout): Finding[] {
  const excess = ({ scrollWidth, clientWidth }: PageLayout) => Math.max(0, scrollWidth - clientWidth);
  if (excess(after) <= excess(before) + 1) return [];
  const message = `The page scrolls sideways with the variant: its content is ${after.scrollWidth} px wide, the page ${after.clientWidth} px.`;
  return [makeFinding(target, "fail", "overflow", null, message)];
}

function checkObstructed(target: CheckTarget, before: PageLayout, after: PageLayout): Finding[] {
  const existing = new Set(before.obstructed.map(({ selector }) => selector));
  return after.obstructed
    .filter(({ selector }) => !existing.has(selector))
    .map(({ selector, changeId }) =>
      makeFinding(
        target,
        "fail",
        "covered",
        changeId,
        `The change covers ${selector}, which people can no longer use.`,
      ),
    );
}
