import type { AxeFindings } from "#lib/injected/accessibility/main.ts";
import { HiddenMembersError, runAxe } from "#lib/tools/browser/accessibility/run-axe.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { makeFinding } from "../make-finding.ts";

/**
 * A broken accessibility rule, with the elements that break it. `keys` identify each element in other loads of the
 * page. The selectors do not, because the change itself may alter them.
 */
type Violation = Omit<AxeFindings["violations"][number], "elements"> & {
  elements: (AxeFindings["violations"][number]["elements"][number] & { keys: string[] })[];
};

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
const ELEMENTS_PER_RULE = 50;
const ELEMENTS_SHOWN = 5;
/**
 * If a page has more elements, the slow rules examine only the elements of the changes. Examining the whole page would
 * take too long.
 */
const ELEMENTS_MAX = 4_000;
const SLOW_RULES = ["color-contrast", "target-size"];

/**
 * The serious and critical violations of a page. `isWhole` is false if the slow rules examined only a part of the page.
 * `unread` says why the page could not be examined; null if it was.
 */
export type Violations = { found: Violation[]; isWhole: boolean; unread: string | null };

/**
 * Reads the serious and critical accessibility violations of a page. On a very large page, the slow rules examine only
 * the elements of the changes.
 */
export async function readViolations(load: PageLoad, check: CheckContext): Promise<Violations> {
  try {
    return await runRules(load, check);
  } catch (error) {
    if (!(error instanceof HiddenMembersError)) throw error;
    return { found: [], isWhole: true, unread: error.message };
  }
}

async function runRules(load: PageLoad, { limits }: CheckContext): Promise<Violations> {
  const run = (parts: string[], without: string[]) =>
    load.inWorld(limits.accessibilityMs, (world) =>
      runAxe(world, {
        tags: TAGS,
        parts,
        without,
        elementsPerRule: ELEMENTS_PER_RULE,
        isUnseenTextBroken: true,
      }),
    );
  const { elements, changed } = await load.look("readSize", null);
  const isWhole = elements <= ELEMENTS_MAX;
  const results = [await run([], isWhole ? [] : SLOW_RULES)];
  if (!isWhole && changed.length > 0) results.push(await run(changed, []));
  const violations = results.flatMap((result, index) =>
    index === 0 ? result.violations : result.violations.filter(({ rule }) => SLOW_RULES.includes(rule)),
  );
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const paths = grave.flatMap((violation) => violation.elements.map(({ selector }) => pathOf(selector)));
  const keys = (await load.look("identifyElements", paths)).values();
  const found = grave.map((violation) => ({
    ...violation,
    elements: violation.elements.map((element) => ({ ...element, keys: keys.next().value ?? [] })),
  }));
  return { found, isWhole, unread: null };
}

/** Splits a selector of axe-core into one selector for the document, and one for each shadow root. */
const pathOf = (selector: string): string[] => selector.split(" >>> ");

/** Finds violations that occur only with the variant. */
export async function compareAccessibility(
  target: CheckTarget,
  load: PageLoad,
  { found: before, unread }: Violations,
  { found: after }: Violations,
): Promise<Finding[]> {
  // Without the violations of the page as it was, nothing can be compared.
  if (unread !== null) return [];
  const findings: Finding[] = [];
  for (const violation of after) {
    const existing = before.find(({ rule }) => rule === violation.rule);
    const existingKeys = new Set(existing?.elements.flatMap(({ keys }) => keys));
    const isMore = violation.count > (existing?.count ?? 0);
    const candidates = violation.elements.filter(({ keys }) => !keys.some((key) => existingKeys.has(key)));
    let shown = 0;
    for (const { selector, problem } of candidates) {
      if (shown >= ELEMENTS_SHOWN) break;
      const changeId = await load.look("findChangeOf", pathOf(selector));
      // The rule has no more violations than without the variant, and no change affects this element. The selector is
      // probably new only because elements have moved.
      if (!isMore && changeId === null) continue;
      shown += 1;
      const advice = problem.split("\n").slice(1, 3).join(" ").trim();
      const message = `${violation.rule} (${violation.impact}): ${selector} breaks "${violation.help}". ${advice}`;
      findings.push(makeFinding(target, "fail", "accessibility", changeId, message));
    }
  }
  return findings;
}
