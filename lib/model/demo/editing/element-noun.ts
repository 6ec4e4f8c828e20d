import { MARK, quotesIn } from "./clauses.ts";
import { type ElementSearch, findKind, searchNames } from "./element-kinds.ts";

/** The elements that a noun refers to, and how to find them. */
export type ElementNoun = {
  /** The queries that find the elements, in order. Each query is made only if the previous one found nothing. */
  searches: ElementSearch[];
  /** `all` for every element found, or the index of one of them (-1 for the last). */
  which: "all" | number;
  /** The quoted text of the element. */
  quote?: string;
  /** The roles of such elements. A query may also match children of such elements, which have other roles. */
  roles?: RegExp;
  /** Whether a color in a task applies to the background of the elements. */
  isArea: boolean;
};

const DETERMINER = /^(?:the|this|that|these|those|an?|our|my|your|its|both)\s+/i;
const ALL = /^(?:all|every|each|any)\s+(?:of\s+)?/i;
const SIZE = /^(?:main|big|large|whole|entire|little|small) (?=\S)/;
const ORDINALS = ["first", "second", "third", "fourth", "fifth"];
const CALLED =
  "(?:(?:that|which) (?:says|reads)|labell?ed|called|named|titled|saying|reading|with the (?:text|label|title))?";
const NOUN_AND_QUOTE = new RegExp(`^(.*?)\\s*${CALLED}\\s*(${MARK})$`, "i");
const QUOTE_AND_NOUN = new RegExp(`^(${MARK})\\s+(.+)$`);
const ELEMENT_AND_QUOTE = new RegExp(`^(?:element )?${MARK}$`, "i");
/** Matches nouns that refer to a text on the page and not to a kind of element. */
const TEXT_NOUN = /^(?:text|word|words|phrase|sentence|label|line|string|wording|copy|element)?$/;
/** Matches nouns for an element that contains other elements. */
const CONTAINER =
  /\s+(?:box|section|block|area|bar|panel|card|widget|element|part|banner|form|field|popup|pop-up|dialog|window|column|strip)$/;
const CONTAINERS = "section, article, aside, fieldset, form, dialog, li, div, p";
const SELECTOR =
  /^(?:element\s+)?((?:[a-z][a-z0-9-]{0,20})?[#.][A-Za-z_][\w-]{0,60}(?:[ >.#:[\]="\w()-]{0,100}))$/;

/** Removes a determiner (`the`, `this`, `your`) from the beginning of the words. */
export const withoutDeterminer = (words: string): string => words.replace(DETERMINER, "");

/**
 * Reads a noun with its determiner and its quotation: `the second heading`, `all 'Add to cart' buttons`, `#pay`. Words
 * that do not name a kind of element need a determiner, so that words of other tasks are not read as elements.
 */
export function readElementNoun(words: string, quotes: readonly string[]): ElementNoun | undefined {
  const isAll = ALL.test(words);
  const unbound = words.replace(ALL, "");
  const isDetermined = isAll || DETERMINER.test(unbound);
  const { index, rest } = readOrdinal(withoutDeterminer(withoutDeterminer(unbound)));
  const which = isAll ? "all" : index;
  const [quote, ...others] = quotesIn(rest, quotes);
  if (others.length > 0) return undefined;
  if (quote !== undefined) return readQuoted(rest, quote, which);
  const selector = SELECTOR.exec(rest)?.[1];
  if (selector !== undefined) return { searches: [{ selector }], which, isArea: true };
  const noun = rest.toLowerCase().replace(SIZE, "");
  return (
    readKind(noun, which) ??
    readKind(rest.toLowerCase(), which) ??
    (isDetermined ? readName(noun, which) : undefined)
  );
}

function readOrdinal(words: string): { index: number; rest: string } {
  const [, first = "", rest = ""] = /^(\w+)\s+(.+)$/.exec(words) ?? [];
  const index = ORDINALS.indexOf(first.toLowerCase());
  if (index !== -1) return { index, rest };
  return first.toLowerCase() === "last" ? { index: -1, rest } : { index: 0, rest: words };
}

function readKind(noun: string, which: "all" | number): ElementNoun | undefined {
  const kind = findKind(noun);
  if (!kind) return undefined;
  const { searches, all, roles, isArea, isPlural } = kind;
  const isOneOfAll = which !== 0 || isPlural;
  return {
    searches: isOneOfAll ? [{ selector: all ?? searches[0]?.selector ?? "" }] : searches,
    which: which === 0 && isPlural ? "all" : which,
    ...(roles ? { roles } : {}),
    isArea: isArea === true,
  };
}

/**
 * Reads a noun with a quotation. The result refers to the elements that a quoted selector matches (`element '#pay'`),
 * to elements of one kind with the quoted text (`the button 'Pay'`), or to any element with the quoted text
 * (`text 'Pay'`).
 */
function readQuoted(words: string, quote: string, which: "all" | number): ElementNoun | undefined {
  if (SELECTOR.test(quote) && ELEMENT_AND_QUOTE.test(words))
    return { searches: [{ selector: quote }], which, isArea: true };
  const nounWords = NOUN_AND_QUOTE.exec(words)?.[1] ?? QUOTE_AND_NOUN.exec(words)?.[2];
  const noun = nounWords?.trim().toLowerCase();
  if (noun === undefined) return undefined;
  const kind = findKind(noun);
  if (kind) {
    const selector = kind.all ?? kind.searches.map((search) => search.selector).join(", ");
    return {
      ...(readKind(noun, which) ?? { which, isArea: false }),
      searches: [{ selector, text: quote }],
      quote,
    };
  }
  const isText = TEXT_NOUN.test(noun) || CONTAINER.test(` ${noun}`);
  return isText ? { searches: [{ text: quote }], which, quote, isArea: false } : undefined;
}

/** Reads an element that is named by words of its id, class or text: `the newsletter box`. */
function readName(noun: string, which: "all" | number): ElementNoun | undefined {
  const isContainer = CONTAINER.test(noun);
  const name = noun.replace(CONTAINER, "");
  const words = name.split(/\s+/);
  if (words.length > 3 || !/^[\p{L}\p{N}][\p{L}\p{N} -]{1,40}$/u.test(name)) return undefined;
  const spellings = new Set(["-", "", "_", " "].map((glue) => words.join(glue)));
  const around: ElementSearch[] = isContainer ? [{ selector: CONTAINERS, text: name, isSmallest: true }] : [];
  return { searches: [searchNames(...spellings), ...around, { text: name }], which, isArea: isContainer };
}
