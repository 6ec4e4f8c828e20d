import type { Finding } from "../check-report.ts";
import type { PageWatch } from "../inside/page-watch.ts";
import type { PageLoad } from "../load/open-load.ts";
import { makeFinding } from "../make-finding.ts";

/**
 * Adds to findings about changes behind an interaction which step would open them.
 *
 * @param seen selectors of the controls that showed a change when they were operated, by change id. For other changes,
 * the attributes of the page's controls may say it.
 */
export async function proposeOpening(
  load: PageLoad,
  findings: Finding[],
  seen: Record<string, string>,
): Promise<Finding[]> {
  const ids = findings.flatMap(({ code, changeId }) =>
    code === "not_examined" && changeId ? [changeId] : [],
  );
  if (ids.length === 0) return findings;
  const openers = { ...(await load.look(findOpeners, ids)), ...seen };
  return findings.map((finding) => {
    const click = finding.code === "not_examined" && finding.changeId && openers[finding.changeId];
    if (!click) return finding;
    const pages = JSON.stringify([{ url: finding.url, open: [{ click }] }]);
    const message = `${finding.message} A click seems to open it: check again with pages: ${pages}.`;
    return makeFinding(finding, finding.level, finding.code, finding.changeId, message);
  });
}

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
