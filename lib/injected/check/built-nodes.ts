import type { Dom, PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";
import type { ExaminedChange } from "./examined-change.ts";

type BuildingChange = ExaminedChange & { op: "insert" | "setHtml" };

/** Recognises the elements that changes have built from their HTML. */
type BuiltNodes = {
  /** Whether a change has built the element or one of its ancestors. */
  isBuilt: (kit: PageKit, element: PageElement) => boolean;
};

/**
 * Creates {@link BuiltNodes}.
 *
 * @param listMatching lists the elements that match a change now or have matched earlier. A built element may match its
 * own change. It must come after the element for which it was built.
 * @param findFor finds the nodes that a change has built for one element.
 */
export function makeBuiltNodes(
  dom: Dom,
  changes: ExaminedChange[],
  listMatching: (kit: PageKit, change: BuildingChange) => PageElement[],
  findFor: (change: BuildingChange, element: PageElement) => PageNode[],
): BuiltNodes {
  // A kit is used in one task only, so the built nodes stay the same.
  const builtIn = new WeakMap<PageKit, Set<PageElement>>();
  const isWithin = (roots: Set<PageElement>, element: PageElement): boolean => {
    if (roots.size === 0) return false;
    for (let node: PageNode | null = element; node; node = dom.parentNode(node) ?? dom.host(node))
      if (dom.isElement(node) && roots.has(node)) return true;
    return false;
  };
  const listBuilt = (kit: PageKit): Set<PageElement> => {
    const cached = builtIn.get(kit);
    if (cached) return cached;
    const built = new Set<PageElement>();
    for (const change of changes) {
      if (change.op !== "insert" && change.op !== "setHtml") continue;
      for (const element of listMatching(kit, change))
        if (!isWithin(built, element))
          for (const node of findFor(change, element)) if (dom.isElement(node)) built.add(node);
    }
    builtIn.set(kit, built);
    return built;
  };
  return { isBuilt: (kit, element) => isWithin(listBuilt(kit), element) };
}
