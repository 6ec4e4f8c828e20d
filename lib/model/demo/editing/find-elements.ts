import { type PageElement, readData, readPage } from "../page-reading.ts";
import type { ToolExchange } from "../situation.ts";
import type { ElementSearch } from "./element-kinds.ts";
import type { ElementPhrase } from "./element-phrase.ts";

/** What the queries of a turn say about a phrase: they found elements, none of them did, or one is still to be made. */
export type Search =
  | { kind: "query"; input: Record<string, unknown> }
  | {
      kind: "found";
      elements: PageElement[];
      /** How many elements the search matched; more than `elements` if the phrase means one of several. */
      matches: number;
      /** The selector that finds exactly these elements, if the search has one. */
      selector?: string;
    }
  | {
      kind: "missing";
      /** What the page has instead, as the last query says. */
      closest?: string;
      /** The sentence of a query that failed. */
      error?: string;
    };

const QUERY_LIMIT = 50;
/** An element in an iframe, in a closed shadow root, or known by its place in a list has no selector that a change can use. */
const isUsable = ({ selector, frame }: PageElement) =>
  frame === undefined && selector !== "" && !selector.includes(">> nth=");

/** The text of an element, as far as a query shows it. */
export const contentOf = ({ text, name }: PageElement): string => text || name;

export const squash = (text: string): string => text.toLowerCase().replace(/\s+/g, "");

/**
 * Looks for the elements of a phrase in the queries since the page last changed.
 *
 * @param forText whether their text is to be changed: then a child that holds all of the text stands for its element, so
 * that a link inside of a heading stays a link.
 */
export function findElements(phrase: ElementPhrase, exchanges: ToolExchange[], forText: boolean): Search {
  let missing: Search = { kind: "missing" };
  for (const search of phrase.searches) {
    const input = toInput(search, forText ? phrase.roles : undefined);
    const result = exchanges.find((exchange) => isQuery(exchange, input))?.result;
    if (result === undefined) return { kind: "query", input };
    if (result.isError) missing = { kind: "missing", error: result.text };
    else {
      const found = chooseElements(readPage(result.text).elements, phrase, search, forText);
      if (found) return found;
      missing = /\bClosest:/.test(result.text)
        ? { kind: "missing", closest: readData(result.text) }
        : missing;
    }
  }
  return missing;
}

function toInput(
  { selector, text, names }: ElementSearch,
  roles: RegExp | undefined,
): Record<string, unknown> {
  const searched = selector !== undefined && roles ? `${selector}, :is(${selector}) > *` : selector;
  return {
    ...(searched === undefined ? {} : { selector: searched }),
    ...(text === undefined ? {} : { text }),
    ...(names ? { attributes: ["class"] } : {}),
    limit: QUERY_LIMIT,
  };
}

const isQuery = ({ toolName, input }: ToolExchange, wanted: Record<string, unknown>) =>
  toolName === "dom_query" && input.selector === wanted.selector && input.text === wanted.text;

function chooseElements(
  all: PageElement[],
  { quote, which, roles }: ElementPhrase,
  { selector, text, isSmallest, names }: ElementSearch,
  forText: boolean,
): Search | undefined {
  const usable = all
    .filter(isUsable)
    .map((element) => (names ? selectByClass(element, all, names) : element));
  const grouped = roles && forText ? joinChildren(usable, roles) : usable;
  const exact = quote === undefined ? [] : grouped.filter((element) => saysExactly(element, quote));
  const matching = exact.length > 0 ? exact : isSmallest ? smallestOf(grouped) : grouped;
  if (which === "all") {
    if (matching.length === 0) return undefined;
    const isWhole = selector !== undefined && text === undefined && !forText;
    return { kind: "found", elements: matching, matches: matching.length, ...(isWhole ? { selector } : {}) };
  }
  const element = matching.at(which);
  return element && { kind: "found", elements: [element], matches: matching.length };
}

/** An element that is known by its place alone, by a class that names it, if no other match has the class. */
function selectByClass(element: PageElement, all: PageElement[], names: readonly string[]): PageElement {
  const classesOf = ({ classes = "" }: PageElement) => classes.split(" ");
  const own = classesOf(element).find(
    (each) =>
      /^[A-Za-z][\w-]*$/.test(each) &&
      names.some((name) => each.toLowerCase().includes(name)) &&
      all.filter((other) => classesOf(other).includes(each)).length === 1,
  );
  return own !== undefined && element.selector.includes(" > ")
    ? { ...element, selector: `.${own}` }
    : element;
}

const saysExactly = ({ name, text }: PageElement, quote: string) =>
  squash(name) === squash(quote) || squash(text) === squash(quote);

const smallestOf = (elements: PageElement[]): PageElement[] =>
  elements.toSorted((one, other) => contentOf(one).length - contentOf(other).length).slice(0, 1);

/** Elements without their children; a child with the whole text of its element takes its place. */
function joinChildren(elements: PageElement[], roles: RegExp): PageElement[] {
  const joined: PageElement[] = [];
  let parent: PageElement | undefined;
  for (const element of elements) {
    if (parent === undefined || roles.test(element.role)) {
      parent = element;
      joined.push(element);
    } else if (contentOf(element) !== "" && contentOf(element) === contentOf(parent)) {
      joined[joined.length - 1] = element;
    }
  }
  return joined;
}
