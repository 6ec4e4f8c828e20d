import { MARK, unmark } from "./clauses.ts";
import { type ElementNoun, readElementNoun, withoutDeterminer } from "./element-noun.ts";
import type { Aspect } from "./look.ts";

/** A phrase for elements in a task: `the headline`, `the color of all buttons`, `the button 'Add to cart'`. */
export type ElementPhrase = ElementNoun & {
  /** The phrase as the task words it. */
  words: string;
  /** The property that the phrase names in addition to the element; absent if it names none. */
  aspect?: Aspect;
};

const SITE =
  /\s+(?:of|on|in|at|from)\s+(?:the|this|that|our|my)\s+(?:(?:web)?page|(?:web)?site|shop|screen)$/i;
const WHOLE_PAGE = /^(?:the |this )?(?:whole |entire )?(?:page|site|body)$/i;
const PAGE: ElementNoun = { searches: [{ selector: "body" }], which: 0, isArea: true };
/** The words for each aspect, as part of a regular expression. */
const ASPECTS: Record<Aspect, string> = {
  background: "background(?: colou?r)?",
  color: "colou?r",
  size: "(?:font |text )?size",
  text: "(?:text|font|label)(?: colou?r)?|wording|caption|copy|words|content|name",
};
const ASPECT_WORDS = Object.values(ASPECTS).join("|");
const ASPECT_FIRST = new RegExp(`^(${ASPECT_WORDS})\\s+(?:of|on|for)\\s+(?!${MARK}$)(.+)$`, "i");
const ASPECT_LAST = new RegExp(`^(.+?)(['’]s?)?\\s+(${ASPECT_WORDS})$`, "i");
const PHRASE_CHARACTERS_MAX = 160;

/**
 * Reads a phrase for elements. Returns undefined if `words` is not such a phrase. The caller has replaced the
 * quotations in `words` with marks; the result contains the quotations again.
 */
export function readElementPhrase(words: string, quotes: readonly string[]): ElementPhrase | undefined {
  const trimmed = words.trim().replace(/[\s.,;:!?]+$/, "");
  if (trimmed === "" || trimmed.length > PHRASE_CHARACTERS_MAX) return undefined;
  const phrase = readAspect(trimmed.replace(SITE, ""), quotes);
  return phrase && { ...phrase, words: unmark(trimmed, quotes, "“", "”") };
}

/** Whether a phrase refers to the whole page. */
export const isWholePage = ({ searches }: ElementNoun): boolean => searches === PAGE.searches;

/**
 * Reads a list of phrases, such as `the banner and the footer`; undefined if one of them is not a phrase for elements.
 */
export function readElementPhrases(words: string, quotes: readonly string[]): ElementPhrase[] | undefined {
  const phrases = words.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).map((each) => readElementPhrase(each, quotes));
  return phrases.every((phrase) => phrase !== undefined) ? phrases : undefined;
}

/** Separates the aspect from a phrase, as in `the color of the button`, `the button's text` or `the button color`. */
function readAspect(words: string, quotes: readonly string[]): Omit<ElementPhrase, "words"> | undefined {
  const bare = withoutDeterminer(words);
  if (WHOLE_PAGE.test(words)) return PAGE;
  // `background` without an element is the background of the page.
  if (/^background$/i.test(bare)) return { ...PAGE, aspect: "background" };
  const [, before, owner] = ASPECT_FIRST.exec(bare) ?? [];
  const [, thing, possessive, after] = ASPECT_LAST.exec(words) ?? [];
  const aspectWords = (before ?? after)?.toLowerCase() ?? "";
  const aspect = findAspect(aspectWords);
  const ownerWords = owner ?? thing;
  if (ownerWords === undefined || aspect === undefined) return readElementNoun(words, quotes);
  const noun = WHOLE_PAGE.test(ownerWords) ? PAGE : readElementNoun(ownerWords, quotes);
  if (!noun) return undefined;
  // `the button color` refers to all buttons.
  const isGeneral =
    owner === undefined && possessive === undefined && aspect !== "text" && noun.quote === undefined;
  const plural =
    isGeneral && /\bbuttons?$|\blinks?$/i.test(ownerWords)
      ? readElementNoun(`all ${ownerWords}`, quotes)
      : undefined;
  return { ...(plural ?? noun), aspect };
}

function findAspect(words: string): Aspect | undefined {
  // The cast holds because the keys of the record are the aspects.
  const aspects = Object.keys(ASPECTS) as Aspect[];
  return aspects.find((aspect) => new RegExp(`^(?:${ASPECTS[aspect]})$`).test(words));
}
