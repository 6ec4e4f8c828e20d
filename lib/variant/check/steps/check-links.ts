import { DANGEROUS_LINK } from "#lib/injected/check/find-links.ts";
import type { SeenPage } from "#lib/injected/check/read-changes.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import { makeFinding } from "../make-finding.ts";

const LINKS_MAX = 10;

/**
 * Requests the addresses of the page's origin to which only the variant links, and finds those that lead nowhere.
 * Addresses whose request may have an effect, such as logging out, are not requested.
 *
 * @returns `notes` names the addresses that were not requested.
 */
export async function checkLinks(
  { limits }: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  control: SeenPage,
  seen: SeenPage,
): Promise<{ findings: Finding[]; notes: string[] }> {
  const added = seen.linked.filter((url) => !control.linked.includes(url));
  const safe = added.filter((url) => !DANGEROUS_LINK.test(url));
  const followed = safe.slice(0, LINKS_MAX);
  const timeoutMs = limits.answerMs / 2;
  const dead = followed.length === 0 ? [] : await load.look("followLinks", { urls: followed, timeoutMs });
  const findings = dead.map(({ url, changeId, status }) => {
    const reason = status === null ? "no element of the page has this id" : `the answer is ${status}`;
    const message = `The variant links to ${url}, which leads nowhere: ${reason}. Correct the address.`;
    return makeFinding(target, "fail", "dead_link", changeId, message);
  });
  const rest = added.filter((url) => !followed.includes(url));
  const names = rest.slice(0, 3).join(", ");
  const notes =
    rest.length === 0
      ? []
      : [
          `${target.url} (${target.viewport}): ${rest.length} links of the variant were not followed: ${names}.`,
        ];
  return { findings, notes };
}
