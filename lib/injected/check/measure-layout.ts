import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageWatch } from "./page-watch.ts";

/** The layout of one element that a change altered or inserted. */
export type ElementLayout = {
  /**
   * Whether the element or a descendant extends beyond the left or right side of the page. False if an ancestor scrolls
   * or clips the overflow.
   */
  isBeyond: boolean;
  /** Whether a part of the element, or of its content, is clipped. */
  isCut: boolean;
  /** Selector of the element that covers most of this element. Null if no element does. */
  coveredBy: string | null;
};

/** The layout of a page. `changes` has the layouts of the elements of each change, by change id. */
export type PageLayout = {
  clientWidth: number;
  scrollWidth: number;
  changes: Record<string, ElementLayout[]>;
  /** Controls, such as buttons and links, that an element of a change covers. */
  obstructed: { selector: string; changeId: string }[];
};

/**
 * Measures the layout. Scrolls the page, and restores its scroll position at the end.
 */
export function measureLayout(watch: PageWatch): PageLayout {
  const ELEMENTS_MAX = 20;
  const CONTROLS_MAX = 150;
  const kit = watch.newKit();
  const { dom } = kit;
  const root = dom.documentElement(document);
  const scroll = { left: window.scrollX, top: window.scrollY };

  const ancestorsOf = (element: PageElement): PageElement[] => {
    const found: PageElement[] = [];
    for (let node: PageNode | null = element; node; ) {
      const parent: PageNode | null = node instanceof ShadowRoot ? node.host : dom.parentNode(node);
      if (dom.isElement(parent)) found.push(parent);
      node = parent;
    }
    return found.filter((each) => each !== dom.body(document) && each !== root);
  };
  const label = (element: PageElement) => kit.selectorOf(element) ?? dom.localName(element);
  const clips = (overflow: string) => overflow === "hidden" || overflow === "clip";

  const extendsBeyond = (element: PageElement): boolean => {
    const { left, right, width, height } = dom.getBoundingClientRect(element);
    if (width <= 1 || height <= 1 || right <= 0) return false;
    if (right <= dom.clientWidth(root) + 1 && left >= -1) return false;
    return ancestorsOf(element).every((each) => dom.computedStyle(each).overflowX === "visible");
  };
  const isBeyond = (element: PageElement): boolean =>
    [element, ...dom.querySelectorAll(element, "*")].slice(0, 200).some(extendsBeyond);
  const isClipping = (element: PageElement): boolean => {
    const { overflowX, overflowY } = dom.computedStyle(element);
    if (dom.clientWidth(element) <= 1 || dom.clientHeight(element) <= 1) return false;
    return (
      (clips(overflowX) && dom.scrollWidth(element) > dom.clientWidth(element) + 1) ||
      (clips(overflowY) && dom.scrollHeight(element) > dom.clientHeight(element) + 1)
    );
  };
  const isCut = (element: PageElement): boolean => {
    if ([element, ...dom.querySelectorAll(element, "*")].slice(0, 200).some(isClipping)) return true;
    const box = dom.getBoundingClientRect(element);
    return ancestorsOf(element).some((each) => {
      const { overflowX, overflowY } = dom.computedStyle(each);
      const around = dom.getBoundingClientRect(each);
      if (around.width <= 1 || around.height <= 1) return false;
      return (
        (clips(overflowX) && (box.right > around.right + 1 || box.left < around.left - 1)) ||
        (clips(overflowY) && (box.bottom > around.bottom + 1 || box.top < around.top - 1))
      );
    });
  };
  /**
   * Scrolls an element into view, and returns the topmost element at each of five points inside it. The first point is
   * the middle of the element. For a point outside of the viewport, the entry is null.
   */
  const hitsOf = (element: PageElement): (PageElement | null)[] => {
    dom.scrollIntoView(element, { block: "center", inline: "nearest", behavior: "instant" });
    const { left, top, width, height } = dom.getBoundingClientRect(element);
    const scope = dom.getRootNode(element);
    return [
      [0.5, 0.5],
      [0.2, 0.5],
      [0.8, 0.5],
      [0.5, 0.2],
      [0.5, 0.8],
    ].map(([x = 0, y = 0]) => {
      const [pointX, pointY] = [left + width * x, top + height * y];
      const isInView =
        pointX >= 0 && pointY >= 0 && pointX < window.innerWidth && pointY < window.innerHeight;
      return isInView ? dom.elementFromPoint(scope, pointX, pointY) : null;
    });
  };
  const coveredBy = (element: PageElement): string | null => {
    const { width, height } = dom.getBoundingClientRect(element);
    if (width <= 1 || height <= 1 || dom.computedStyle(element).pointerEvents === "none") return null;
    const over = hitsOf(element).map((hit) => {
      if (!hit || dom.contains(element, hit) || dom.contains(hit, element)) return null;
      const around = dom.closest(hit, "label");
      return around instanceof HTMLLabelElement && around.control === element ? null : hit;
    });
    const [middle] = over;
    return middle && over.filter((each) => each !== null).length >= 3 ? label(middle) : null;
  };

  const touchedOf = new Map(
    watch.changes.map((change) => {
      const touched = watch.verifier.touched(kit, change);
      // Without the variant, an inserted element does not exist. The element that the insertion refers to is measured
      // instead.
      const elements =
        touched.length > 0 || change.op === "remove" ? touched : watch.verifier.subjects(kit, change);
      return [change.id, elements.slice(0, ELEMENTS_MAX)];
    }),
  );
  const changes = Object.fromEntries(
    [...touchedOf].map(([id, elements]) => [
      id,
      elements.map((element): ElementLayout => {
        if (!kit.isVisible(element)) return { isBeyond: false, isCut: false, coveredBy: null };
        return { isBeyond: isBeyond(element), isCut: isCut(element), coveredBy: coveredBy(element) };
      }),
    ]),
  );

  const isPositioned = (element: PageElement) =>
    [element, ...ancestorsOf(element).slice(0, 3), ...dom.querySelectorAll(element, "*").slice(0, 50)].some(
      (each) => dom.computedStyle(each).position !== "static",
    );
  const positioned = [...touchedOf].flatMap(([changeId, elements]) =>
    elements.filter(isPositioned).map((element) => ({ changeId, element })),
  );
  const controls =
    positioned.length === 0 ? [] : kit.queryAll("a[href], button, input, select, textarea, [role=button]");
  const obstructed = controls
    .filter((control) => kit.isVisible(control))
    .slice(0, CONTROLS_MAX)
    .flatMap((control) => {
      const [hit] = hitsOf(control);
      if (!hit || dom.contains(control, hit) || dom.contains(hit, control)) return [];
      const over = positioned.find(
        ({ element }) => dom.contains(element, hit) && !dom.contains(element, control),
      );
      return over ? [{ selector: label(control), changeId: over.changeId }] : [];
    });
  window.scrollTo({ ...scroll, behavior: "instant" });
  return { clientWidth: dom.clientWidth(root), scrollWidth: dom.scrollWidth(root), changes, obstructed };
}

/** Reads the height of the page, in CSS pixels. */
export function readHeight(watch: PageWatch): number {
  const { dom } = watch.newKit();
  return dom.scrollHeight(dom.documentElement(document));
}
