import { OPEN_STEPS_MAX } from "../check-options.ts";
import type { Finding } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { type PageLoad, withLoad } from "../load/open-load.ts";
import { waitForVariant } from "../load/wait-for-load.ts";
import { makeFinding } from "../make-finding.ts";
import { guardRequests } from "./guard-requests.ts";
import { sendInput, untilReacted } from "./send-input.ts";

/** Findings about changes that people do not see on the loaded page. Some pages render a menu only when it opens. */
const UNSEEN = new Set<Finding["code"]>(["not_examined", "no_match"]);
/** How many of the recorded clicks on a page are repeated. */
const CLICKS_MAX = 20;

/**
 * Adds to findings about changes behind an interaction which steps would open them.
 *
 * @param seen selectors of the controls that showed a change when they were operated, by change id. For other changes,
 * the attributes of the page's controls may say it, or the clicks in the live browser.
 */
export async function proposeOpening(
  check: CheckContext,
  target: CheckTarget,
  load: PageLoad,
  findings: Finding[],
  seen: Record<string, string>,
): Promise<Finding[]> {
  const ids = findings.flatMap(({ code, changeId }) => (changeId && UNSEEN.has(code) ? [changeId] : []));
  if (ids.length === 0) return findings;
  const known = { ...(await load.look("findOpeners", ids)), ...seen };
  const openers = new Map(Object.entries(known).map(([id, selector]) => [id, [selector]]));
  const unknown = ids.filter((id) => !openers.has(id));
  for (const [id, clicks] of await repeatClicks(check, target, unknown)) openers.set(id, clicks);
  return findings.map((finding) => {
    const clicks = UNSEEN.has(finding.code) && openers.get(finding.changeId ?? "");
    if (!clicks) return finding;
    const open = [...target.open.map(({ selector }) => selector), ...clicks].map((click) => ({ click }));
    if (open.length > OPEN_STEPS_MAX) return finding;
    const pages = JSON.stringify([{ url: finding.url, open }]);
    const subject = clicks.length === 1 ? "A click seems" : `${clicks.length} clicks seem`;
    const message = `${finding.message} ${subject} to open it: check again with pages: ${pages}.`;
    return makeFinding(finding, finding.level, finding.code, finding.changeId, message);
  });
}

/**
 * Repeats the clicks of the live browser on this page, on a fresh load with the variant, and finds which of them show
 * the changes. Then the last click alone is tried, the last two, and so on, because earlier clicks had other purposes
 * (decision 086).
 *
 * @returns selectors of the clicks, by change id.
 */
async function repeatClicks(
  check: CheckContext,
  target: CheckTarget,
  ids: string[],
): Promise<Map<string, string[]>> {
  const clicks = check.clicks
    .filter(({ url }) => target.isHere(url) && withoutQuery(url) === withoutQuery(target.url))
    .map(({ selector }) => selector)
    .filter((selector, index, all) => selector !== all[index - 1])
    .slice(-CLICKS_MAX);
  if (ids.length === 0 || clicks.length === 0) return new Map();
  const found = await clickAll(check, target, ids, clicks);
  const paths = [...new Set(found.values())].filter(({ length }) => length > 1);
  for (const path of paths) {
    const shown = [...found.keys()].filter((id) => found.get(id) === path);
    for (let length = 1; length < Math.min(path.length, OPEN_STEPS_MAX + 1); length += 1) {
      const shorter = await clickAll(check, target, shown, path.slice(-length));
      for (const [id, each] of shorter) found.set(id, each);
      if (shorter.size === shown.length) break;
    }
  }
  return found;
}

/** Clicks what is visible among the selectors, one after the other. @returns the clicks up to each change's first sight. */
async function clickAll(
  check: CheckContext,
  target: CheckTarget,
  ids: string[],
  selectors: string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  await withLoad(check, target, true, async (load) => {
    await waitForVariant(load, check, target, []);
    // What is clicked again must have no effect, even if the caller allows effects of the controls near the changes.
    await guardRequests(load, false);
    const clicked: string[] = [];
    for (const selector of selectors) {
      if (found.size === ids.length || !target.isHere(load.page.url())) return;
      const point = await load.look("aimAtSelector", selector);
      if (point === null || point === "hidden") continue;
      await sendInput(check, load, () => load.page.mouse.click(point.x, point.y));
      await untilReacted(load);
      clicked.push(selector);
      const shown = (await load.look("listShown", ids)).filter((id) => !found.has(id));
      const path = [...clicked];
      for (const id of shown) found.set(id, path);
    }
  });
  return found;
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "");
