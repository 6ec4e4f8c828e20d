import { OPEN_STEPS_MAX } from "../check-options.ts";
import type { Finding } from "../check-report.ts";
import type { PageWatch } from "../inside/page-watch.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import { type PageLoad, withLoad } from "../load/open-load.ts";
import { settleVariant } from "../load/settle-load.ts";
import { makeFinding } from "../make-finding.ts";
import { guardRequests } from "./guard-requests.ts";
import { aimAtSelector } from "./inside/operator.ts";
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
  const known = { ...(await load.look(findOpeners, ids)), ...seen };
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
    await settleVariant(load, check, target, []);
    // What is clicked again must have no effect, even if the caller allows effects of the controls near the changes.
    await guardRequests(load, false);
    const clicked: string[] = [];
    for (const selector of selectors) {
      if (found.size === ids.length || !target.isHere(load.page.url())) return;
      const point = await load.look(aimAtSelector, selector);
      if (point === null || point === "hidden") continue;
      await sendInput(check, load, () => load.page.mouse.click(point.x, point.y));
      await untilReacted(load);
      clicked.push(selector);
      const shown = (await load.look(listShown, ids)).filter((id) => !found.has(id));
      const path = [...clicked];
      for (const id of shown) found.set(id, path);
    }
  });
  return found;
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "");

/** Lists the changes that have a visible element. The source of this function is sent to the page and runs there. */
export function listShown(watch: PageWatch, ids: string[]): string[] {
  const kit = watch.newKit();
  return watch.changes
    .filter((change) => ids.includes(change.id) && watch.verifier.touched(kit, change).some(kit.isVisible))
    .map(({ id }) => id);
}

/**
 * Finds for each change a visible control of which the page says that it opens what the change is in. The source of this
 * function is sent to the page and runs there, so the function uses nothing from outside its own body.
 *
 * @returns selectors of the controls, by change id.
 */
function findOpeners(watch: PageWatch, ids: string[]): Record<string, string> {
  const kit = watch.newKit();
  const { dom } = kit;
  const { finder } = watch.operator;
  const controls = kit
    .queryAll(
      "[aria-controls], [aria-owns], [popovertarget], [commandfor], [data-target], [data-bs-target], a[href^='#']",
    )
    .filter(kit.isVisible);
  const NAMES = [
    "aria-controls",
    "aria-owns",
    "popovertarget",
    "commandfor",
    "data-target",
    "data-bs-target",
    "href",
  ];
  const opens = (control: (typeof controls)[number], id: string) =>
    NAMES.some((name) =>
      (dom.getAttribute(control, name) ?? "").split(/\s+/).some((word) => word === id || word === `#${id}`),
    );
  const openerOf = (element: (typeof controls)[number]) => {
    for (let each: typeof element | null = element; each; each = finder.parentOf(each)) {
      const id = dom.id(each);
      const summary = dom.children(each).find((child) => dom.localName(child) === "summary");
      if (dom.localName(each) === "details" && !dom.hasAttribute(each, "open") && summary) return summary;
      const labelled =
        dom.getAttribute(each, "role") === "tabpanel" ? dom.getAttribute(each, "aria-labelledby") : null;
      const control =
        controls.find((one) => id !== "" && opens(one, id)) ??
        controls.find((one) => labelled !== null && dom.id(one) === labelled);
      if (control) return control;
    }
    return undefined;
  };
  return Object.fromEntries(
    watch.changes
      .filter(({ id }) => ids.includes(id))
      .flatMap((change) => {
        const opener = watch.verifier
          .touched(kit, change)
          .map(openerOf)
          .find((each) => each !== undefined);
        const selector = opener && kit.selectorOf(opener);
        return selector ? [[change.id, selector]] : [];
      }),
  );
}
