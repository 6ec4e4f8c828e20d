import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/** What the selector of one change matches in the page. */
export type FoundBySelector = {
  changeId: string;
  matches: number;
  /** Descriptions of the first matching elements. */
  elements: FoundElement[];
  /** Why the selector is invalid; null if it is valid. */
  problem: string | null;
};

/** An element before the change is applied. */
type FoundElement = { ref: string; label: string; text: string; box: string };

/** An element after the change was applied. Null if the element is no longer in the document. */
export type ElementState = { text: string; box: string } | null;

/** The elements that the document had at the last call of `findBySelector`. */
let existing = new WeakSet<PageElement>();

/** For each selector, counts the matching elements and describes the first `shown` of them. */
export function findBySelector(
  kit: PageKit,
  { wanted, shown }: { wanted: { changeId: string; selector: string }[]; shown: number },
): FoundBySelector[] {
  const { dom } = kit;
  existing = new WeakSet(kit.queryAll("*"));
  const describe = (element: PageElement): FoundElement => {
    const { x, y, width, height } = dom.getBoundingClientRect(element);
    const ref = kit.refOf(element);
    const name = kit.nameOf(element);
    const label = kit.describe(element, kit.roleOf(element) ?? dom.localName(element), name, ref);
    const box = `${Math.round(x)},${Math.round(y)} ${Math.round(width)}×${Math.round(height)}`;
    return { ref, label, text: kit.quote(kit.contentOf(element), 120), box };
  };
  return wanted.map(({ changeId, selector }) => {
    try {
      const found = kit.queryAll(selector);
      return {
        changeId,
        matches: found.length,
        elements: found.slice(0, shown).map(describe),
        problem: null,
      };
    } catch (error) {
      const problem = error instanceof Error ? error.message : "it cannot be parsed.";
      return { changeId, matches: 0, elements: [], problem };
    }
  });
}

/** A change whose selector matches elements that did not exist before. */
type OwnMatch = {
  changeId: string;
  /** Whether it still matches an element that existed before. */
  keepsElement: boolean;
};

/** Finds the selectors that match elements which were added since the last call of `findBySelector`. */
export function findOwnMatches(kit: PageKit, wanted: { changeId: string; selector: string }[]): OwnMatch[] {
  return wanted.flatMap(({ changeId, selector }) => {
    const matching = kit.queryAll(selector);
    const keepsElement = matching.some((element) => existing.has(element));
    return matching.every((element) => existing.has(element)) ? [] : [{ changeId, keepsElement }];
  });
}

/** Reads the current state of the elements with these refs. */
export function readStates(kit: PageKit, refs: string[]): ElementState[] {
  const { dom } = kit;
  return refs.map((ref) => {
    const element = kit.elementOf(ref);
    if (!element) return null;
    const { x, y, width, height } = dom.getBoundingClientRect(element);
    const isShown = kit.isVisible(element);
    const box = `${Math.round(x)},${Math.round(y)} ${Math.round(width)}×${Math.round(height)}`;
    return { text: kit.quote(kit.contentOf(element), 120), box: isShown ? box : "hidden" };
  });
}

/**
 * For each selector, finds the elements that resemble it most. Meant for selectors that match nothing. Compares the
 * words of the selector with words in the ids, classes, other attributes and texts of the elements.
 */
export function findCandidates(
  kit: PageKit,
  { selectors, limit }: { selectors: string[]; limit: number },
): string[][] {
  const { dom } = kit;
  const split = (text: string) =>
    text
      .replace(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  const silent = "script, style, template, head, head *, html, body";
  // On a very large page, only the first elements are compared.
  const elements = kit
    .queryAll("*")
    .filter((element) => !dom.matches(element, silent))
    .slice(0, 20_000);
  const words = elements.map((element) => {
    const named = ["id", "class", "name", "data-testid", "aria-label", "href", "role", "placeholder"]
      .map((name) => dom.getAttribute(element, name) ?? "")
      .join(" ");
    const own = dom.childElementCount(element) < 3 ? (dom.textContent(element) ?? "").slice(0, 80) : "";
    return new Set(split(`${dom.localName(element)} ${named} ${own}`));
  });
  const score = (wanted: string[], offered: Set<string>): number => {
    let sum = 0;
    for (const word of wanted) {
      if (offered.has(word)) sum += 3;
      else if (
        word.length > 3 &&
        [...offered].some((other) => other.startsWith(word.slice(0, 4)) || word.startsWith(other))
      )
        sum += 1;
    }
    return sum;
  };
  return selectors.map((selector) => {
    const wanted = split(selector.replace(/:[a-z-]+\(|:[a-z-]+/g, " "));
    return elements
      .map((element, index) => ({ element, score: score(wanted, words[index] ?? new Set()) }))
      .filter((each) => each.score > 0)
      .sort((one, other) => other.score - one.score)
      .slice(0, limit)
      .map(({ element }) => {
        const label = kit.describe(
          element,
          kit.roleOf(element) ?? dom.localName(element),
          kit.nameOf(element),
          kit.refOf(element),
        );
        return `${kit.selectorOf(element) ?? "in a closed shadow root"}: ${label}`;
      });
  });
}
