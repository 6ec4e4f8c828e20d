import type { Response } from "playwright";
import type { SeenPage } from "#lib/injected/check/read-changes.ts";
import type { Finding } from "../check-report.ts";
import { findBlockingPolicies, readPolicies } from "../content-policy.ts";
import type { CheckTarget } from "../load/check-context.ts";
import { listNewErrors, listNewRequests, type PageProblems } from "../load/page-problems.ts";
import { makeFinding } from "../make-finding.ts";

/** Maximum number of errors, and of failed requests, that are reported. */
const SHOWN_MAX = 5;

/** Creates findings for errors and failed requests that occur only with the variant. */
export function checkProblems(target: CheckTarget, found: PageProblems, controls: PageProblems[]): Finding[] {
  const errors = listNewErrors(found, controls).map((text) =>
    makeFinding(target, "fail", "console_error", null, `With the variant the page logs an error: ${text}`),
  );
  const requests = listNewRequests(found, controls).map((text) =>
    makeFinding(target, "warn", "failed_request", null, `With the variant a request fails: ${text}`),
  );
  return [...errors.slice(0, SHOWN_MAX), ...requests.slice(0, SHOWN_MAX)];
}

/** Creates findings for Content-Security-Policies of the page that block the published script. */
export async function checkPolicies(
  target: CheckTarget,
  response: Response | null,
  { metaPolicies }: SeenPage,
  scriptUrl: string,
): Promise<Finding[]> {
  const policies = [...(await readPolicies(response)), ...metaPolicies];
  return findBlockingPolicies(policies, new URL(target.url), new URL(scriptUrl)).map(
    ({ directive, advice }) =>
      makeFinding(
        target,
        "warn",
        "csp_blocks_script",
        null,
        `The page's Content-Security-Policy (${directive}) would block the published script: ${advice}.`,
      ),
  );
}

/**
 * Computes the milliseconds from the first paint until the last change was applied. 0 if all changes were applied
 * before the first paint. Null if no change was applied or nothing was painted.
 */
export function readPaintToApplied({ changes, firstPaintMs }: SeenPage): number | null {
  const times = Object.values(changes).flatMap(({ appliedAtMs }) => appliedAtMs ?? []);
  if (times.length === 0 || firstPaintMs === null) return null;
  return Math.max(0, Math.round(Math.max(...times) - firstPaintMs));
}
