import type { Dom, PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { BeginningOf } from "#lib/text/whole-characters.ts";
import type { PageKit } from "../page-kit/page-kit.ts";
import type { makeBuiltNodes } from "./built-nodes.ts";
import type { ExaminedChange } from "./examined-change.ts";
import type { makeNodeMatcher } from "./match-nodes.ts";
import type { makeEffectReader } from "./read-effect.ts";

/** Whether a change is in the document now. */
export type Verdict = {
  /** Number of elements on which the change should be applied. */
  matched: number;
  /** Number of matched elements on which the change is applied. */
  applied: number;
  isApplied: boolean;
  /** Whether the change is in the document and people do not see its effect on at least one element. */
  hasNoEffect: boolean;
  /** What is wrong with the first matched element on which the change is not applied. Null if there is none. */
  problem: string | null;
};

/** Reads from the document which changes are applied, independently of the page's scripts and the runtime. */
export type Verifier = {
  /**
   * Records the elements that match now. This is necessary because a change may stop its own selector from matching.
   */
  follow: (kit: PageKit) => void;
  /**
   * Checks on which elements a change is applied.
   *
   * @param isThorough whether to examine the effect too, such as computed styles. This briefly alters the inline style
   * of elements.
   */
  verify: (kit: PageKit, change: ExaminedChange, isThorough: boolean) => Verdict;
  /** Whether an element has matched the change's selector at any time in this document. */
  hasMatched: (change: ExaminedChange) => boolean;
  /**
   * Lists the elements that an `insert` has inserted. Lists nothing for `remove`, and the same elements as `subjects`
   * for all other operations.
   */
  touched: (kit: PageKit, change: ExaminedChange) => PageElement[];
  /**
   * Lists the elements that the selector matches, and the elements that matched earlier and still have the change. For
   * `remove`, lists all elements that have matched at any time.
   */
  subjects: (kit: PageKit, change: ExaminedChange) => PageElement[];
  /** Counts how many times the HTML of an insertion is in the document. */
  copies: (kit: PageKit, change: ExaminedChange) => number;
  /** Whether a change has built the element or one of its ancestors. */
  isBuilt: (kit: PageKit, element: PageElement) => boolean;
};

/**
 * Creates a {@link Verifier}.
 *
 * @param makeMatcher the function `makeNodeMatcher`, which is passed in because this function cannot import it. The
 * same applies to `makeBuilt` and `makeEffects`.
 */
export function makeVerifier(
  dom: Dom,
  changes: ExaminedChange[],
  makeMatcher: typeof makeNodeMatcher,
  makeBuilt: typeof makeBuiltNodes,
  makeEffects: typeof makeEffectReader,
  beginningOf: BeginningOf,
): Verifier {
  const followed = new Map<string, Set<PageElement>>(changes.map(({ id }) => [id, new Set()]));
  const followedBy = (change: ExaminedChange) => followed.get(change.id) ?? new Set<PageElement>();
  const isOthers = (change: ExaminedChange, element: PageElement) =>
    changes.some((other) => other.id !== change.id && followedBy(other).has(element));
  const matcherOf = (change: ExaminedChange) => makeMatcher(dom, (element) => isOthers(change, element));
  const hasOthersInside = (change: ExaminedChange, element: PageElement) =>
    isOthers(change, element) || dom.querySelectorAll(element, "*").some((each) => isOthers(change, each));

  const quote = (text: string) => JSON.stringify(text.length > 80 ? `${beginningOf(text, 79)}…` : text);
  const effects = makeEffects(dom, quote);
  const query = (kit: PageKit, selector: string): PageElement[] => {
    try {
      return kit.queryAll(selector);
    } catch {
      // The selector is invalid; the runtime reports it.
      return [];
    }
  };

  /**
   * Lists the nodes among which inserted or moved nodes are expected: the child nodes of the anchor, or its siblings on
   * one side.
   */
  const regionOf = (anchor: PageElement, position: string): PageNode[] => {
    if (position === "start" || position === "end") return dom.childNodes(anchor);
    const parent = dom.parentNode(anchor);
    const siblings = parent ? dom.childNodes(parent) : [];
    const index = siblings.indexOf(anchor);
    return position === "before" ? siblings.slice(0, index) : siblings.slice(index + 1);
  };
  const isWithin = (kit: PageKit, element: PageElement, change: ExaminedChange & { op: "move" }): boolean =>
    query(kit, change.target).some((target) => {
      const isBetween = (node: PageNode) =>
        dom.isElement(node) && !isOthers(change, node) && !followedBy(change).has(node);
      if (change.position === "before" || change.position === "after") {
        const region = regionOf(target, change.position);
        const index = region.indexOf(element);
        const between = change.position === "before" ? region.slice(index + 1) : region.slice(0, index);
        return index >= 0 && !between.some(isBetween);
      }
      if (dom.parentNode(element) !== target && dom.getRootNode(element) !== dom.shadowRoot(target))
        return false;
      const siblings = dom.siblings(element);
      const index = siblings.indexOf(element);
      const beyond = change.position === "start" ? siblings.slice(0, index) : siblings.slice(index + 1);
      return !beyond.some(isBetween);
    });

  const styleProblem = (
    element: PageElement,
    style: Record<string, string>,
    isThorough: boolean,
  ): string | null => {
    const own = dom.style(element);
    if (!own) return "has no inline style";
    const probe = dom.createElement(document, "div").style;
    const saved = dom.getAttribute(element, "style");
    for (const [name, value] of Object.entries(style)) {
      const [, bare = value, important] = /^(.*?)\s*(!important)?\s*$/is.exec(value) ?? [];
      probe.setProperty(name, bare, important ? "important" : "");
      const wanted = probe.getPropertyValue(name);
      if (wanted === "") return `${name}: ${quote(value)} is not valid CSS`;
      if (own.getPropertyValue(name) !== wanted)
        return `has the style ${name}: ${quote(own.getPropertyValue(name))}`;
      if (!isThorough) continue;
      const shown = dom.computedStyle(element).getPropertyValue(name);
      own.setProperty("transition", "none", "important");
      own.setProperty(name, bare, "important");
      const forced = dom.computedStyle(element).getPropertyValue(name);
      if (saved === null) dom.removeAttribute(element, "style");
      else own.cssText = saved;
      if (shown !== forced) return `shows ${name}: ${quote(shown)}, because a rule of the page is stronger`;
    }
    return null;
  };

  const textProblem = (change: ExaminedChange & { op: "setText" }, element: PageElement): string | null => {
    const actual = dom.textContent(element) ?? "";
    if (actual === change.text || (hasOthersInside(change, element) && actual.includes(change.text)))
      return null;
    return `has the text ${quote(actual)}`;
  };
  const htmlProblem = (change: ExaminedChange & { op: "setHtml" }, element: PageElement): string | null => {
    const actual = dom.childNodes(element);
    const run = matcherOf(change).findRun(change.nodes, actual);
    if (!run) return `has the content ${quote(dom.innerHTML(element))}`;
    const isExtra = (node: PageNode): node is PageElement =>
      !run.includes(node) && dom.isElement(node) && !isOthers(change, node) && !isOthers(change, element);
    const extra = actual.find(isExtra);
    return extra ? `has further content: ${quote(dom.outerHTML(extra))}` : null;
  };
  const attributeProblem = (
    change: ExaminedChange & { op: "setAttribute" },
    element: PageElement,
  ): string | null => {
    const actual = dom.getAttribute(element, change.name);
    const words = (change.name === "class" ? change.value.split(/\s+/) : []).filter((word) => word !== "");
    const isClass = words.length > 0 && words.every((word) => dom.classList(element).contains(word));
    return actual === change.value || isClass
      ? null
      : `has ${change.name}=${actual === null ? "(none)" : quote(actual)}`;
  };

  /** Returns why a change is not applied on an element. Null if it is applied. */
  const problemOf = (
    kit: PageKit,
    change: ExaminedChange,
    element: PageElement,
    isThorough: boolean,
  ): string | null => {
    switch (change.op) {
      case "setText":
        return textProblem(change, element);
      case "setHtml":
        return htmlProblem(change, element);
      case "setAttribute":
        return attributeProblem(change, element);
      case "removeAttribute":
        return dom.hasAttribute(element, change.name) ? `has the attribute ${change.name}` : null;
      case "addClass":
        return dom.classList(element).contains(change.className)
          ? null
          : `does not have the class ${change.className}`;
      case "removeClass":
        return dom.classList(element).contains(change.className) ? `has the class ${change.className}` : null;
      case "setStyle":
        return styleProblem(element, change.style, isThorough);
      case "insert": {
        const run = matcherOf(change).findRun(change.nodes, regionOf(element, change.position));
        return run ? null : "does not have the inserted content";
      }
      case "move":
        return isWithin(kit, element, change) ? null : `is not ${change.position} ${change.target}`;
      case "remove":
        return dom.isConnected(element) && dom.checkVisibility(element) ? "is on the page" : null;
    }
  };

  const listMatching = (kit: PageKit, change: ExaminedChange & { op: "insert" | "setHtml" }) => {
    const matching = query(kit, change.selector);
    if (change.op === "insert" && change.position === "before") matching.reverse();
    return [...new Set([...followedBy(change), ...matching])].filter(dom.isConnected);
  };
  const built = makeBuilt(dom, changes, listMatching, (change, element) => {
    const isContent = change.op === "setHtml";
    const nodes = isContent ? dom.childNodes(element) : regionOf(element, change.position);
    const runs = matcherOf(change).findRuns(change.nodes, nodes, false);
    if (isContent) return runs[0] ?? [];
    // The inserted nodes are the ones that are nearest to the element.
    return runs.at(change.position === "before" || change.position === "end" ? -1 : 0) ?? [];
  });
  /**
   * Finds the elements to which the runtime applies a change. A change that builds or moves elements is not applied to
   * elements that a change has built.
   */
  const findMatching = (kit: PageKit, change: ExaminedChange): PageElement[] => {
    const found = query(kit, change.selector);
    const isBuilding =
      change.op === "move" || ("nodes" in change && change.nodes.some((node) => typeof node !== "string"));
    return isBuilding ? found.filter((element) => !built.isBuilt(kit, element)) : found;
  };

  const subjects: Verifier["subjects"] = (kit, change) => {
    const matching = findMatching(kit, change);
    if (change.op === "remove") return [...new Set([...matching, ...followedBy(change)])];
    // A change may stop its own selector from matching an element. Such an element counts while it still has the
    // change.
    const stillApplied = [...followedBy(change)].filter(
      (each) =>
        dom.isConnected(each) && !matching.includes(each) && problemOf(kit, change, each, false) === null,
    );
    return [...matching, ...stillApplied];
  };
  const runsOf = (kit: PageKit, change: ExaminedChange & { op: "insert" }): PageNode[][] => {
    const isInside = change.position === "start" || change.position === "end";
    const containers = new Set(subjects(kit, change).map((each) => (isInside ? each : dom.parentNode(each))));
    return [...containers].flatMap((container) =>
      matcherOf(change).findRuns(change.nodes, container ? dom.childNodes(container) : []),
    );
  };

  return {
    follow(kit) {
      for (const change of changes)
        for (const element of findMatching(kit, change)) followedBy(change).add(element);
    },
    hasMatched: (change) => followedBy(change).size > 0,
    subjects,
    verify(kit, change, isThorough) {
      const elements = subjects(kit, change);
      const missing = elements.map((element) => problemOf(kit, change, element, false));
      const ineffective = elements.map((element, index) =>
        isThorough && missing[index] === null
          ? (problemOf(kit, change, element, true) ?? effects.problemOf(change, element))
          : null,
      );
      const problems = missing.map((problem, index) => problem ?? ineffective[index] ?? null);
      const applied = problems.filter((problem) => problem === null).length;
      return {
        matched: elements.length,
        applied,
        isApplied: elements.length > 0 && applied === elements.length,
        hasNoEffect:
          elements.length > 0 && missing.every((problem) => problem === null) && applied < elements.length,
        problem: problems.find((each) => each !== null) ?? null,
      };
    },
    touched(kit, change) {
      if (change.op === "remove") return [];
      if (change.op !== "insert") return subjects(kit, change);
      return runsOf(kit, change).flatMap((run) => run.filter((node) => dom.isElement(node)));
    },
    copies: (kit, change) => (change.op === "insert" ? runsOf(kit, change).length : 0),
    isBuilt: built.isBuilt,
  };
}
