import type { PageWatch } from "./page-watch.ts";

/** Lists the changes that have a visible element. */
export function listShown(watch: PageWatch, ids: string[]): string[] {
  const kit = watch.newKit();
  return watch.changes
    .filter((change) => ids.includes(change.id) && watch.verifier.touched(kit, change).some(kit.isVisible))
    .map(({ id }) => id);
}

/**
 * Finds for each change a visible control of which the page says that it opens what the change is in.
 *
 * @returns selectors of the controls, by change id.
 */
export function findOpeners(watch: PageWatch, ids: string[]): Record<string, string> {
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
