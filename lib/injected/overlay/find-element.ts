import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { makeNames } from "../page-kit/make-names.ts";
import { makeSearch } from "../page-kit/make-search.ts";
import { roleOf } from "../page-kit/role-of.ts";
import { visibleTextOf } from "./describe-element.ts";

/** What an annotation remembers of its element within its frame, besides the selector. Unknown values are null. */
export type ElementTraits = {
  tag: string | null;
  role: string | null;
  name: string | null;
  text: string | null;
  /** The middle of the element in the document, which decides between several elements that match. */
  center: { x: number; y: number } | null;
};

/** How many elements are compared with each wanted one, by name or by text. */
const CANDIDATES_MAX = 500;

/** Finds the only element below a node that a selector matches. Null if there is none, or the selector is invalid. */
export function queryOne(node: PageNode, selector: string): PageElement | null {
  try {
    // The cast is safe: the service passes documents, elements and shadow roots.
    const found = dom.querySelectorAll(node as PageElement, selector);
    return found.length === 1 ? (found[0] ?? null) : null;
  } catch {
    return null;
  }
}

/** Like {@link queryOne}, in the document outside of shadow roots. */
export const queryDocument = (selector: string): PageElement | null => queryOne(document, selector);

/**
 * Whether an element that the selector has found is the annotated one. A selector that counts elements also matches
 * another element after one was removed, so the element needs the name or the text of the annotated one as well.
 */
export function hasTraits(element: PageElement, traits: ElementTraits, isCounted: boolean): boolean {
  if (traits.tag !== null && dom.localName(element) !== traits.tag) return false;
  if (!isCounted || (traits.name === null && traits.text === null)) return true;
  return isNamed(element, traits) || isWorded(element, traits);
}

/** How an element was found; `gone` if it was not, and `unknown` if it was not looked for. */
export type FoundBy = "role" | "text" | "gone" | "unknown";

/**
 * Finds elements in the document and its open shadow roots, by role and name, or else by tag and text. What it reads of
 * an element is read once for all of them. When the time is over, it returns `unknown` for the rest.
 *
 * @param budgetMs how long it may keep the page busy.
 * @returns how and which element was found, in the order of `wanted`, and as the last entry the time that it took.
 */
export function findByTraits(
  wanted: ElementTraits[],
  budgetMs: number,
): (FoundBy | PageElement | null | number)[] {
  const beganAtMs = performance.now();
  const tookMs = () => performance.now() - beganAtMs;
  const readers = makeReaders(() => tookMs() >= budgetMs);
  const found = wanted.flatMap((traits): (FoundBy | PageElement | null)[] => {
    try {
      return findOne(readers, traits);
    } catch (error) {
      if (error instanceof TimeOver) return ["unknown", null];
      throw error;
    }
  });
  return [...found, tookMs()];
}

/** Thrown when the page was kept busy for as long as allowed. */
class TimeOver extends Error {}

type Readers = ReturnType<typeof makeReaders>;

/** Creates functions that read elements, and remember what they have read. @throws TimeOver when the time is over. */
function makeReaders(isTimeOver: () => boolean) {
  const search = makeSearch();
  const names = makeNames(search);
  const checkTime = () => {
    if (isTimeOver()) throw new TimeOver();
  };
  const once = <Key, Value>(read: (key: Key) => Value) => {
    const values = new Map<Key, Value>();
    return (key: Key): Value => {
      const known = values.get(key);
      if (known !== undefined) return known;
      checkTime();
      const value = read(key);
      values.set(key, value);
      return value;
    };
  };
  return {
    checkTime,
    withTag: once((tag: string) =>
      search.roots().flatMap((root) => dom.querySelectorAll(root, tag === "*" ? tag : CSS.escape(tag))),
    ),
    isShown: once((element: PageElement) => search.isVisible(element) && !search.isOverlay(element)),
    roleOf: once((element: PageElement) => roleOf(element) ?? ""),
    nameOf: once(names.nameOf),
    textOf: once(visibleTextOf),
  };
}

function findOne(readers: Readers, traits: ElementTraits): [FoundBy, PageElement | null] {
  const { role, name, text } = traits;
  const all = readers.withTag(traits.tag ?? "*");
  const find = (
    isCandidate: (element: PageElement) => boolean,
    isMatch: (element: PageElement) => boolean,
  ) => {
    const candidates: PageElement[] = [];
    for (const element of all) {
      if (candidates.length >= CANDIDATES_MAX) break;
      readers.checkTime();
      if (isCandidate(element) && readers.isShown(element)) candidates.push(element);
    }
    return nearest(candidates.filter(isMatch), traits);
  };
  const byRole =
    role !== null && name !== null
      ? find(
          (element) => readers.roleOf(element) === role,
          (element) => readers.nameOf(element) === name,
        )
      : null;
  if (byRole) return ["role", byRole];
  const byText =
    text !== null
      ? find(
          () => true,
          (element) => readers.textOf(element) === text,
        )
      : null;
  return byText ? ["text", byText] : ["gone", null];
}

const isNamed = (element: PageElement, { name }: ElementTraits) =>
  name !== null && makeNames(makeSearch()).nameOf(element) === name;
const isWorded = (element: PageElement, { text }: ElementTraits) =>
  text !== null && visibleTextOf(element) === text;

function nearest(found: PageElement[], { center }: ElementTraits): PageElement | null {
  const distance = (element: PageElement) => {
    const { left, top, width, height } = dom.getBoundingClientRect(element);
    if (!center) return 0;
    return Math.hypot(left + width / 2 + scrollX - center.x, top + height / 2 + scrollY - center.y);
  };
  const placed = found.map((element) => ({ element, distance: distance(element) }));
  return placed.toSorted((one, other) => one.distance - other.distance)[0]?.element ?? null;
}
