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
 * Measures the layout. Scrolls the page, and restores its scroll position at the end. The source of this function is
 * sent to the page and runs there, so the function uses nothing from outside its own body.
 */
export function measureLayout(watch: PageWatch): PageLayout {
  const ELEMENTS_MAX = 20;
  const CONTROLS_MAX = 150;
  const kit = watch.newKit();
  const root = document.documentElement;
  const scroll = { left: window.scrollX, top: window.scrollY };

  const ancestorsOf = (element: Element): Element[] => {
    const found: Element[] = [];
    for (let node: Node | null = element; node; ) {
      const parent: Node | null = node instanceof ShadowRoot ? node.host : node.parentNode;
      if (parent instanceof Element) found.push(parent);
      node = parent;
    }
    return found.filter((each) => each !== document.body && each !== root);
  };
  const label = (element: Element) => kit.selectorOf(element) ?? element.localName;
  const clips = (overflow: string) => overflow === "hidden" || overflow === "clip";

  const extendsBeyond = (element: Element): boolean => {
    const { left, right, width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1 || right <= 0) return false;
    if (right <= root.clientWidth + 1 && left >= -1) return false;
    return ancestorsOf(element).every((each) => getComputedStyle(each).overflowX === "visible");
  };
  const isBeyond = (element: Element): boolean =>
    [element, ...element.querySelectorAll("*")].slice(0, 200).some(extendsBeyond);
  const isClipping = (element: Element): boolean => {
    const { overflowX, overflowY } = getComputedStyle(element);
    if (element.clientWidth <= 1 || element.clientHeight <= 1) return false;
    return (
      (clips(overflowX) && element.scrollWidth > element.clientWidth + 1) ||
      (clips(overflowY) && element.scrollHeight > element.clientHeight + 1)
    );
  };
  const isCut = (element: Element): boolean => {
    if ([element, ...element.querySelectorAll("*")].slice(0, 200).some(isClipping)) return true;
    const box = element.getBoundingClientRect();
    return ancestorsOf(element).some((each) => {
      const { overflowX, overflowY } = getComputedStyle(each);
      const around = each.getBoundingClientRect();
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
  const hitsOf = (element: Element): (Element | null)[] => {
    element.scrollIntoView({ block: "center", inline: "nearest", behavior: "instant" });
    const { left, top, width, height } = element.getBoundingClientRect();
    const scope = element.getRootNode() as Document | ShadowRoot;
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
      return isInView ? scope.elementFromPoint(pointX, pointY) : null;
    });
  };
  const coveredBy = (element: Element): string | null => {
    const { width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1 || getComputedStyle(element).pointerEvents === "none") return null;
    const over = hitsOf(element).map((hit) => {
      if (!hit || element.contains(hit) || hit.contains(element)) return null;
      return hit.closest("label")?.control === element ? null : hit;
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

  const isPositioned = (element: Element) =>
    [element, ...ancestorsOf(element).slice(0, 3), ...[...element.querySelectorAll("*")].slice(0, 50)].some(
      (each) => getComputedStyle(each).position !== "static",
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
      if (!hit || control.contains(hit) || hit.contains(control)) return [];
      const over = positioned.find(({ element }) => element.contains(hit) && !element.contains(control));
      return over ? [{ selector: label(control), changeId: over.changeId }] : [];
    });
  window.scrollTo({ ...scroll, behavior: "instant" });
  return { clientWidth: root.clientWidth, scrollWidth: root.scrollWidth, changes, obstructed };
}
