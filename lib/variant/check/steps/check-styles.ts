import type { Finding } from "../check-report.ts";
import type { CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { makeFinding } from "../make-finding.ts";

const UNMATCHED_SHOWN = 3;

/** Checks that the variant's style sheets are in the page and that each of their rules matches an element. */
export async function checkStyles(target: CheckTarget, load: PageLoad): Promise<Finding[]> {
  if (target.css.length === 0) return [];
  const sheets = await load.look("readStyles", target.css);
  return sheets.flatMap(({ rules, isPresent, unmatched }) => {
    if (rules === 0)
      return [
        makeFinding(target, "fail", "not_applied", null, "The css of the page entry has no valid rule."),
      ];
    if (!isPresent)
      return [
        makeFinding(target, "fail", "not_applied", null, "The css of the page entry is not in the page."),
      ];
    return unmatched
      .slice(0, UNMATCHED_SHOWN)
      .map((selector) =>
        makeFinding(
          target,
          "warn",
          "no_match",
          null,
          `The css rule for "${selector}" matches no element of the page.`,
        ),
      );
  });
}
