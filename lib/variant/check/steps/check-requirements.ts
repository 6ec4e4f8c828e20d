import type { FoundElements } from "#lib/injected/check/read-requirement.ts";
import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { makeFinding } from "../make-finding.ts";

/**
 * A requirement with an assertion about a page. `visible`: at least one element is visible. `hidden`: no element is
 * visible. `text`: a visible element has the text `value`, compared with white space collapsed. `count`: exactly
 * `value` elements match.
 */
export type CheckedRequirement = {
  id: string;
  text: string;
  assertion: {
    url: string;
    selector: string;
    is: "visible" | "hidden" | "text" | "count";
    value?: string | number;
  };
};

const POLL_MS = 100;

/** Finds the requirements whose assertions are about the page at `url`. */
export const requirementsOf = (requirements: CheckedRequirement[], url: string): CheckedRequirement[] =>
  requirements.filter(({ assertion }) => matchesAddress({ url: assertion.url, match: "path" }, url));

/** Checks the requirements of a page on a load that has the variant. */
export async function checkRequirements(
  { limits }: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  requirements: CheckedRequirement[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const requirement of requirementsOf(requirements, target.url)) {
    const { selector } = requirement.assertion;
    const untilMs = performance.now() + limits.rerenderMs;
    let problem = explain(requirement, await read(load, selector));
    while (problem !== undefined && performance.now() < untilMs) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      problem = explain(requirement, await read(load, selector));
    }
    if (problem === undefined) continue;
    const message = `Requirement ${requirement.id} ("${requirement.text}") is not met: ${problem}.`;
    const finding = makeFinding(target, "fail", "requirement", null, message);
    findings.push({ ...finding, requirementId: requirement.id });
  }
  return findings;
}

/** Finds the elements that the selector matches. Returns a problem text if the selector is invalid. */
const read = (load: PageLoad, selector: string): Promise<FoundElements | string> =>
  load.look("readRequirement", selector).catch((error: unknown) => {
    if (/SyntaxError/.test(String(error))) return `"${selector}" is not a valid selector`;
    throw error;
  });

/** Returns why the assertion does not hold, or undefined if it holds. */
function explain({ assertion }: CheckedRequirement, found: FoundElements | string): string | undefined {
  if (typeof found === "string") return found;
  const { selector, is, value } = assertion;
  const { count, visibleTexts } = found;
  const wanted = String(value ?? "")
    .replace(/\s+/g, " ")
    .trim();
  switch (is) {
    case "visible":
      return visibleTexts.length > 0 ? undefined : `no element of "${selector}" is visible`;
    case "hidden":
      return visibleTexts.length === 0 ? undefined : `an element of "${selector}" is visible`;
    case "text":
      return visibleTexts.includes(wanted)
        ? undefined
        : `the text of "${selector}" is ${JSON.stringify(visibleTexts[0] ?? "")} instead of ${JSON.stringify(wanted)}`;
    case "count":
      return count === Number(value)
        ? undefined
        : `${count} elements match "${selector}" instead of ${wanted}`;
  }
}
