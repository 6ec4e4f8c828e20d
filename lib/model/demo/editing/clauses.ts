/** A text with marks in place of its quotations, so that quoted words are not read as instructions. */
export type MarkedText = { text: string; quotes: string[] };

/** Matches the mark of one quotation. Use it as a part of a regular expression. */
export const MARK = "\\uE000\\d{1,5}\\uE001";

const MARKS = /\uE000(\d{1,5})\uE001/g;
const MARK_CHARACTERS = /[\uE000\uE001]/g;
/**
 * Matches quotations in double, typographic, single and back quotes. An apostrophe inside a word neither opens nor
 * closes a quotation.
 */
const QUOTATION =
  /"([^"\n]{1,500})"|“([^”\n]{1,500})”|‘((?:[^’\n]|’(?=\p{L})){1,500})’(?!\p{L})|«([^»\n]{1,500})»|„([^“”\n]{1,500})[“”]|`([^`\n]{1,500})`|(?<![\p{L}\p{N}])'((?:[^'\n]|'(?=\p{L})){1,500})'(?![\p{L}\p{N}])/gu;

/** Replaces the quotations of a message with marks. */
export function markQuotes(message: string): MarkedText {
  const quotes: string[] = [];
  const text = message.replace(MARK_CHARACTERS, "").replace(QUOTATION, (_whole, ...groups: unknown[]) => {
    const quote = groups.find((group): group is string => typeof group === "string");
    quotes.push((quote ?? "").replace(/\s+/g, " ").trim());
    return `\uE000${quotes.length - 1}\uE001`;
  });
  return { text, quotes };
}

/** Restores the quotations of a marked text, each between `open` and `close`. */
export const unmark = (text: string, quotes: readonly string[], open = "", close = ""): string =>
  text.replace(MARKS, (_mark, index: string) => `${open}${quotes[Number(index)] ?? ""}${close}`);

/** Returns the quotations in a marked text, in order. */
export const quotesIn = (text: string, quotes: readonly string[]): string[] =>
  [...text.matchAll(MARKS)].map(([, index]) => quotes[Number(index)] ?? "");

/** Verbs that begin a new clause after `and` or a comma. */
const VERBS =
  "make|change|set|rename|replace|hide|remove|delete|get rid of|add|insert|put|place|undo|revert|take|turn|colou?r|paint|update|swap|drop|underline|highlight|enlarge|shrink|cent(?:er|re)|give|call|rewrite|write|append|open|go to|visit|tell|show|list|describe|check|capture|look at";
const CONNECTOR = new RegExp(
  `(?:\\s*,\\s*(?:and\\s+)?|\\s+and\\s+|\\s+then\\s+)(?:(?:then|also|please|finally|now)\\s+)*(?=(?:${VERBS})\\b)`,
  "i",
);
const SENTENCE_END = /(?<=[!?])\s+|[.;](?:\s+|$)|\n+|,?\s+but\s+/;
/** Matches a clause that gives the place of a new element before the verb, as in `below the price, add …`. */
const PLACE_BEFORE =
  /^(?:below|above|under|underneath|beneath|after|before|next to|at the (?:top|bottom|start|end))\b/i;
/**
 * Matches the beginning of a question, a prohibition or a request for advice. The verbs of such a sentence are not
 * instructions.
 */
const NO_INSTRUCTION =
  /^(?:(?:ok(?:ay)?|so|and|but|well|hi|hey|hello|please)[\s,]+)*(?:(?:how|what|which|why|when|where|who|whose|whether|if|is|are|was|were|am|does|do|did|has|have you|should|shall|may|might|would it|would the|can i|can we|could i|could we|could the|can the|can it|don['’]?t (?!show)|do not (?!show)|never|without|suppose|imagine|suggest|propose|recommend|consider|think)\b|(?:tell|show|explain|describe|say|ask|advise)\b.*\b(?:how|what|why|whether|if|which|where|who|when)\b)/i;

/** Splits a marked text into clauses with one instruction each. Sentences without instructions are not split. */
export function splitClauses(text: string): { words: string; isInstruction: boolean }[] {
  return text.split(SENTENCE_END).flatMap((sentence) => {
    const isInstruction = !NO_INSTRUCTION.test(sentence.trim());
    const parts = isInstruction ? splitSentence(sentence) : [sentence];
    return parts.map((part) => ({ words: part.trim(), isInstruction })).filter(({ words }) => words !== "");
  });
}

function splitSentence(sentence: string): string[] {
  const [first = "", second, ...others] = sentence.split(CONNECTOR);
  const isPlace = second !== undefined && PLACE_BEFORE.test(first.trim());
  if (second === undefined) return [first];
  return isPlace ? [`${first}, ${second}`, ...others] : [first, second, ...others];
}
