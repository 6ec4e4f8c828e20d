import { type PageElement, readData, readPage } from "../page-reading.ts";
import type { ToolExchange } from "../tool-exchange.ts";
import type { ElementSearch } from "./element-kinds.ts";
import type { ElementPhrase } from "./element-phrase.ts";

/**
 * The result of a search for the elements of a phrase: a query must be made first, the elements were found, or no query
 * found an element.
 */
export type Search =
  | { kind: "query"; input: Record<string, unknown> }
  | {
      kind: "found";
      elements: PageElement[];
      /**
       * Number of elements that matched. It exceeds the number of `elements` if the phrase refers to one of several
       * matches.
       */
      matches: number;
      /** One selector for all these elements; absent if each element is selected by its own selector. */
      selector?: string;
    }
  | {
      kind: "missing";
      /** The closest elements, as the last query lists them. */
      closest?: string;
      /** The error of a failed query. */
      error?: string;
    };

const QUERY_LIMIT = 50;
/**
 * Whether a change can select an element. The element's selector must have no list index (`>> nth=`), and the element
 * must not be in an iframe or a closed shadow root.
 */
const isUsable = ({ selector, frame }: PageElement) =>
  frame === undefined && selector !== "" && !selector.includes(">> nth=");

/** Returns the text of an element as the query shows it, or the name of an element without a text. */
export const contentOf = ({ text, name }: PageElement): string => text || name;

export const squash = (text: string): string => text.toLowerCase().replace(/\s+/g, "");

/**
 * Finds the elements of a phrase in the results of the queries that were made since the page last changed.
 *
 * @param forText whether the text of the elements will be changed. In this case, a child that contains the whole text
 * of an element is used instead of the element, so that a link inside a heading remains a link.
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
  const exact = quote === undefined ? [] : grouped.filter((element) => hasExactText(element, quote));
  const matching = exact.length > 0 ? exact : isSmallest ? smallestOf(grouped) : grouped;
  if (which === "all") {
    if (matching.length === 0) return undefined;
    const isWhole = selector !== undefined && text === undefined && !forText;
    return { kind: "found", elements: matching, matches: matching.length, ...(isWhole ? { selector } : {}) };
  }
  const element = matching.at(which);
  return element && { kind: "found", elements: [element], matches: matching.length };
}

/**
 * If the element's selector depends on positions, selects the element by one of its classes instead. The class must
 * contain one of `names`, and no other element in `all` may have it. If there is no such class, the selector stays.
 */
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

const hasExactText = ({ name, text }: PageElement, quote: string) =>
  squash(name) === squash(quote) || squash(text) === squash(quote);

const smallestOf = (elements: PageElement[]): PageElement[] =>
  elements.toSorted((one, other) => contentOf(one).length - contentOf(other).length).slice(0, 1);

/**
 * Removes elements that are children of the element before them. A child with the whole text of its parent replaces the
 * parent.
 */
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
