import type { PageElement } from "#lib/dom/make-dom.ts";
import type { Box } from "../overlay/overlay-state.ts";
import type { PageWatch } from "./page-watch.ts";

/**
 * Finds, for each change, the box of an element that it altered, inserted or matches, in CSS pixels from the upper left
 * corner of the page. If none of these elements is visible, finds the box of the nearest visible ancestor. Leaves out
 * changes without such an element.
 */
export function findBoxes(watch: PageWatch): Record<string, Box> {
  const ELEMENTS_MAX = 20;
  const kit = watch.newKit();
  const { dom } = kit;
  const root = dom.documentElement(document);
  const boxOf = (element: PageElement): Box | undefined => {
    const { left, top, width, height } = dom.getBoundingClientRect(element);
    const isOnPage = left + scrollX + width > 0 && top + scrollY + height > 0;
    return isOnPage && kit.isVisible(element)
      ? { x: left + scrollX, y: top + scrollY, width, height }
      : undefined;
  };
  const boxAbove = (element: PageElement | undefined): Box | undefined => {
    for (let each = element && dom.parentElement(element); each && each !== root; ) {
      const box = boxOf(each);
      if (box) return box;
      each = dom.parentElement(each);
    }
    return undefined;
  };
  const boxes = watch.changes.flatMap((change): [string, Box][] => {
    const touched = watch.verifier.touched(kit, change);
    const found = touched.length > 0 ? touched : watch.verifier.subjects(kit, change);
    const elements = found.slice(0, ELEMENTS_MAX);
    const box = elements.map(boxOf).find((each) => each !== undefined) ?? boxAbove(elements[0]);
    return box ? [[change.id, box]] : [];
  });
  return Object.fromEntries(boxes);
}
