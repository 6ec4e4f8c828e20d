import type { PageElement, PageRoot } from "#lib/dom/make-dom.ts";
import type { PageWatch } from "./page-watch.ts";
import type { Verdict } from "./verify-changes.ts";

/** The state of one change in a document. */
export type SeenChange = Verdict & {
  matchedAtMs: number | null;
  appliedAtMs: number | null;
  losses: number;
  /** Whether an element has matched the change's selector at any time. */
  hasMatched: boolean;
  /** How many times the HTML of an insertion is in the document. */
  copies: number;
  /**
   * Whether an element of the change has a visible box. Null if its elements never have one, such as `title`, and for
   * `remove`.
   */
  isVisible: boolean | null;
  /** Whether the change's selector matches an element in a shadow root. */
  isInShadow: boolean;
};

/** The state of a document. */
export type SeenPage = {
  changes: Record<string, SeenChange>;
  layoutShift: number;
  /** Time of the first paint, in milliseconds since navigation start. Null until the page has painted. */
  firstPaintMs: number | null;
  /** Content-Security-Policies from `meta` elements. */
  metaPolicies: string[];
  title: string;
  /** Duration of the longest task of the page's thread, in milliseconds. 0 if none took 50 ms. */
  longestTaskMs: number;
  /** How long people saw nothing of the document's text so far, in milliseconds. */
  blankMs: number;
  /** Ids that several elements of the document or of one shadow root have, at most 100. */
  duplicateIds: string[];
  /** Addresses of the page's origin to which links lead, at most 200. */
  linked: string[];
};

/** Reads the state of all changes. */
export function readChanges(watch: PageWatch): SeenPage {
  const IDS_MAX = 100;
  const LINKS_MAX = 200;
  const DESCENDANTS_MAX = 200;
  const BOXLESS =
    "area, base, br, datalist, link, meta, noscript, optgroup, option, param, script, source, style, template, title, track, wbr, input[type=hidden]";
  const verdicts = watch.verdicts(true);
  const kit = watch.newKit();
  const { dom } = kit;
  const none = { matched: 0, applied: 0, isApplied: false, hasNoEffect: false, problem: null };
  const isClippedAway = (element: PageElement): boolean => {
    for (let each = dom.parentElement(element); each; each = dom.parentElement(each)) {
      const { overflowX, overflowY } = dom.computedStyle(each);
      if (overflowX !== "visible" && dom.clientWidth(each) < 1) return each !== dom.body(document);
      if (overflowY !== "visible" && dom.clientHeight(each) < 1) return each !== dom.body(document);
    }
    return false;
  };
  const isShown = (element: PageElement): boolean =>
    [element, ...dom.querySelectorAll(element, "*").slice(0, DESCENDANTS_MAX)].some(
      (each) => kit.isVisible(each) && !isClippedAway(each),
    );
  const isVisible = (elements: PageElement[]): boolean | null => {
    const boxes = elements.filter(
      (element) => !dom.matches(element, BOXLESS) && !dom.closest(element, "head, svg"),
    );
    return boxes.length === 0 ? null : boxes.some(isShown);
  };
  const isInShadow = (elements: PageElement[]): boolean =>
    elements.some((element) => dom.host(dom.getRootNode(element)) !== null);
  const changes = watch.changes.map((change): [string, SeenChange] => [
    change.id,
    {
      ...watch.track(change.id),
      ...(verdicts[change.id] ?? none),
      hasMatched: watch.verifier.hasMatched(change),
      copies: watch.verifier.copies(kit, change),
      isVisible: isVisible(watch.verifier.touched(kit, change)),
      isInShadow: isInShadow(watch.verifier.subjects(kit, change)),
    },
  ]);
  const [paint] = performance.getEntriesByType("paint");
  const metas = dom.querySelectorAll(document, "meta[http-equiv='content-security-policy' i]");
  const duplicateIds = kit.roots().flatMap((root) => {
    const ids = dom.querySelectorAll(root, "[id]").map((element) => dom.getAttribute(element, "id") ?? "");
    const seen = new Set<string>();
    return ids.filter((id) => id.trim() !== "" && (seen.has(id) || !seen.add(id)));
  });
  const linked = dom
    .querySelectorAll(document, "a[href]")
    .map((link) => URL.parse(dom.getAttribute(link, "href") ?? "", document.baseURI))
    .flatMap((url) => (url?.origin === location.origin ? [url.href] : []));
  return {
    changes: Object.fromEntries(changes),
    layoutShift: watch.layoutShift(),
    firstPaintMs: paint?.startTime ?? null,
    metaPolicies: metas.map((meta) => dom.getAttribute(meta, "content") ?? ""),
    title: dom.title(document),
    longestTaskMs: watch.longestTask(),
    blankMs: watch.blank.blankMs(),
    duplicateIds: [...new Set(duplicateIds)].slice(0, IDS_MAX),
    linked: [...new Set(linked)].slice(0, LINKS_MAX),
  };
}

/**
 * Counts the elements of a page, and lists selectors of the first 50 elements that the changes altered or inserted.
 */
export function readSize(watch: PageWatch): { elements: number; changed: string[] } {
  const CHANGED_MAX = 50;
  const kit = watch.newKit();
  const { dom } = kit;
  const changed = watch.changes
    .flatMap((change) => watch.verifier.touched(kit, change))
    .slice(0, CHANGED_MAX)
    .map((element) => kit.selectorOf(element) ?? ">>");
  return {
    elements: dom.querySelectorAll(document, "*").length,
    // Selectors with `>>` lead into shadow roots. They are left out, because they are not valid CSS.
    changed: [...new Set(changed.filter((selector) => !selector.includes(">>")))],
  };
}

/**
 * Returns how often the page has undone each change so far.
 */
export const readLosses = (watch: PageWatch): Record<string, number> =>
  Object.fromEntries(watch.changes.map(({ id }) => [id, watch.track(id).losses]));

/**
 * Finds the change that altered or inserted the element at `path` or an ancestor of this element. If there is no such
 * change, finds the change that altered or inserted a descendant. Null if there is none either, or if `path` leads to
 * no element. `path` has one CSS selector for the document, and one for each shadow root that contains the element.
 */
export function findChangeOf(watch: PageWatch, path: string[]): string | null {
  const kit = watch.newKit();
  const { dom } = kit;
  let scope: PageRoot | null = document;
  let element: PageElement | null = null;
  for (const selector of path) {
    element = scope && dom.querySelector(scope, selector);
    scope = element && dom.shadowRoot(element);
  }
  if (!element) return null;
  const wanted = element;
  const isTouched = (test: (each: PageElement) => boolean) =>
    watch.changes.find((change) => watch.verifier.touched(kit, change).some(test))?.id;
  return (
    isTouched((each) => dom.contains(each, wanted)) ?? isTouched((each) => dom.contains(wanted, each)) ?? null
  );
}
