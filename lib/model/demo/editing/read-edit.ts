import { MARK, quotesIn, unmark } from "./clauses.ts";
import { type ElementPhrase, isWholePage, readElementPhrase, readElementPhrases } from "./element-phrase.ts";
import { type Look, readLook } from "./look.ts";

/** One change that a task asks for. */
export type Edit = { words: string } & (
  | { kind: "setText"; target: ElementPhrase; text: string }
  | { kind: "replaceText"; target: ElementPhrase; before: string; text: string }
  | { kind: "setStyle"; target: ElementPhrase; look: Look }
  | { kind: "insert"; target: ElementPhrase; position: InsertPosition; tag: "p" | "h2"; text: string }
  | { kind: "remove"; target: ElementPhrase }
);
type InsertPosition = "before" | "start" | "end" | "after";

/** A clause of a task, without courtesies. */
type Clause = {
  /** The text, with marks in place of quotations. */
  words: string;
  quotes: readonly string[];
  /** The element in the previous clause. `it` and `them` refer to this element. */
  previous: ElementPhrase | undefined;
};

/** An edit without the words of its clause. */
type Reading = Edit extends infer Each ? (Each extends Edit ? Omit<Each, "words"> : never) : never;

const CLAUSE_CHARACTERS_MAX = 600;
const PRONOUN = /^(?:it|them|that|this|those|these)$/i;

/** Reads the changes that a clause asks for; undefined if the rules find none. */
export function readEdits(clause: Clause): Edit[] | undefined {
  const { words, quotes } = clause;
  if (words.length > CLAUSE_CHARACTERS_MAX) return undefined;
  const readings =
    readInsertion(clause) ??
    readRemoval(clause) ??
    readReplacement(clause) ??
    readSaying(clause) ??
    readSetting(clause) ??
    readStyling(clause);
  if (readings?.some(isTooMuch)) return undefined;
  const shown = unmark(words, quotes, "“", "”");
  return readings?.map((reading) => ({ ...reading, words: shown }));
}

/** Whether an edit would remove the whole page or replace it with a text. */
const isTooMuch = ({ kind, target }: Reading): boolean =>
  isWholePage(target) && kind !== "setStyle" && kind !== "insert";

function phraseOf(words: string | undefined, { quotes, previous }: Clause): ElementPhrase | undefined {
  if (!PRONOUN.test(words?.trim() ?? "")) return readElementPhrase(words ?? "", quotes);
  if (!previous) return undefined;
  const { aspect: _aspect, ...element } = previous;
  return element;
}

function phrasesOf(words: string | undefined, clause: Clause): ElementPhrase[] | undefined {
  const one = phraseOf(words, clause);
  return one ? [one] : readElementPhrases(words ?? "", clause.quotes);
}

/** Reads a new text: the quotation if the words are one quotation and nothing else, otherwise the words themselves. */
function readNewText(words: string | undefined, quotes: readonly string[]): string | undefined {
  const [quote, ...others] = quotesIn(words ?? "", quotes);
  const around = (words ?? "")
    .replace(new RegExp(MARK), "")
    .replace(/\b(?:please|instead|now|thanks)\b/gi, "");
  if (quote !== undefined && others.length === 0 && !/[\p{L}\p{N}]/u.test(around)) return quote;
  const text = unmark(words ?? "", quotes)
    .replace(/[\s,]*\b(?:please|instead)\b[\s.?]*$/i, "")
    .replace(/[\s.,;:?]+$/, "")
    .trim();
  return text === "" ? undefined : text;
}

const ARTICLE = "(?:(?:an?|another|the|some)\\s+)?(?:(?:short|small|new|little)\\s+)*";
const NOTE =
  "(?<noun>note|text|line|paragraph|sentence|message|label|hint|remark|notice|banner|tagline|heading|headline|subheading)";
const SAYING = "\\s*(?:(?:that|which)\\s+(?:says|reads)|saying|reading|with the text|with)?\\s*:?\\s*";
const PLACE =
  "(?:at|on|in|to)\\s+the\\s+(?:very\\s+)?(?:top|start|beginning|bottom|end)\\s+of|directly\\s+(?:below|above)|right\\s+(?:below|above|after|before)|below|underneath|under|beneath|after|following|next\\s+to|beside|above|before|over|inside|into|in|to";
const ADD = "(?:add|insert|put|place|show|display|write|include|append|create)";
const QUOTED_INSERTION = new RegExp(
  `^${ADD}\\s+${ARTICLE}(?:${NOTE})?${SAYING}(?<text>${MARK})(?:\\s+(?<place>${PLACE})\\s+(?<target>.+))?$`,
  "i",
);
const PLAIN_INSERTION = new RegExp(
  `^${ADD}\\s+${ARTICLE}${NOTE}${SAYING}(?<text>.+)\\s+(?<place>${PLACE})\\s+(?<target>(?:the|this|that|our|every|each|all)\\s.+|it)$`,
  "i",
);
const PLACE_FIRST = new RegExp(
  `^(?:${ADD}\\s+)?(?<place>${PLACE})\\s+(?<target>.+?),?\\s+(?:${ADD}\\s+)?${ARTICLE}(?:${NOTE})?${SAYING}(?<text>${MARK})$`,
  "i",
);

function readInsertion(clause: Clause): Reading[] | undefined {
  const { words, quotes } = clause;
  const { groups } =
    QUOTED_INSERTION.exec(words) ?? PLACE_FIRST.exec(words) ?? PLAIN_INSERTION.exec(words) ?? {};
  if (!groups) return undefined;
  const target = phraseOf(groups.target ?? "the headline", clause);
  const text = readNewText(groups.text, quotes);
  if (!target || text === undefined) return undefined;
  const tag = /^(?:sub)?head/i.test(groups.noun ?? "") ? "h2" : "p";
  return [{ kind: "insert", target, position: readPosition(groups.place ?? "below"), tag, text }];
}

function readPosition(place: string): InsertPosition {
  if (/top|start|beginning/i.test(place)) return "start";
  if (/bottom|end|^(?:inside|into|in|to)$/i.test(place)) return "end";
  return /above|before|over/i.test(place) ? "before" : "after";
}

const REMOVE =
  /^(?:hide|remove|delete|drop|get rid of|take (?:out|away|down|off)|turn off|eliminate|erase|(?:don['’]?t|do not) show)\s+(?<target>.+)$/i;
const TAKE_AWAY = /^take\s+(?<target>.+?)\s+(?:away|out|down|off)$/i;
const VANISH =
  /^(?:(?:make|let|have)\s+(?<target>.+?)\s+(?:disappear|vanish|go away|invisible|hidden)|(?<subject>.+?)\s+(?:should|must|has to|needs to)\s+(?:go|disappear|be (?:gone|hidden|removed)))$/i;
const FROM_CART = /\bfrom\s+(?:the|my|our)\s+(?:cart|basket|bag|list|order)\b/i;

function readRemoval(clause: Clause): Reading[] | undefined {
  const { words } = clause;
  const { groups } = REMOVE.exec(words) ?? TAKE_AWAY.exec(words) ?? VANISH.exec(words) ?? {};
  // Removing a product from a cart is an action on the page, not a change of the page.
  if (!groups || FROM_CART.test(words)) return undefined;
  return phrasesOf(groups.target ?? groups.subject, clause)?.map((target) => ({ kind: "remove", target }));
}

const REPLACE = /^(?:replace|swap|exchange)\s+(?<target>.+?)\s+(?:with|by|for)\s+(?<value>.+)$/i;
const FROM_TO = new RegExp(
  `^(?:change|rename|set|update|edit|turn)\\s+(?:(?<target>.+?)\\s+)?(?:from\\s+)?(?<before>${MARK})\\s+(?:to|into|as)\\s+(?<value>.+)$`,
  "i",
);

function readReplacement(clause: Clause): Reading[] | undefined {
  const { words, quotes } = clause;
  const replaced = REPLACE.exec(words)?.groups;
  const changed = FROM_TO.exec(words)?.groups;
  const text = readNewText((replaced ?? changed)?.value, quotes);
  if (text === undefined) return undefined;
  const target = phraseOf(replaced?.target ?? `${changed?.target ?? ""} ${changed?.before ?? ""}`, clause);
  if (!target) return undefined;
  const isWhole = target.quote === undefined || target.roles !== undefined;
  if (isWhole) return [{ kind: "setText", target, text }];
  return [{ kind: "replaceText", target, before: target.quote ?? "", text }];
}

const SAY =
  /^(?:make|have|let|get)\s+(?<target>.+?)\s+(?:to\s+)?(?:say|read|show|display|be called)\s*:?\s+(?<value>.+)$/i;
const WISH =
  /^(?:i (?:want|need)|i['’]d like|i would like)\s+(?<target>.+?)\s+to\s+(?:say|read|show|be called)\s*:?\s+(?<value>.+)$/i;
const SHOULD =
  /^(?<target>.+?)\s+(?:should|must|has to|needs to|ought to)\s+(?:say|read|be called)\s*:?\s+(?<value>.+)$/i;
const CALL = new RegExp(
  `^(?:call|name|label|title|make|rename)\\s+(?<target>.+?)\\s+(?<value>${MARK})$`,
  "i",
);

function readSaying(clause: Clause): Reading[] | undefined {
  const { words, quotes } = clause;
  const { groups } = SAY.exec(words) ?? WISH.exec(words) ?? SHOULD.exec(words) ?? CALL.exec(words) ?? {};
  const target = groups && phraseOf(groups.target, clause);
  const text = readNewText(groups?.value, quotes);
  return target && text !== undefined ? [{ kind: "setText", target, text }] : undefined;
}

const SET =
  /^(?:change|set|update|edit|switch|rename|rewrite|turn|modify)\s+(?<target>.+?)\s*(?:\s(?:so that it says|to say|to read|to be|to|into|as)\s|[:=])\s*(?<value>.+)$/i;

/**
 * Reads `change … to …`. If the target names a color, a background or a size, the value must be a look. For any other
 * target, an unquoted value that is a look sets the style, and every other value sets the text.
 */
function readSetting(clause: Clause): Reading[] | undefined {
  const { words, quotes } = clause;
  const groups = SET.exec(words)?.groups;
  const target = phraseOf(groups?.target, clause);
  if (!groups || !target) return undefined;
  const text = readNewText(groups.value, quotes);
  const look = readLook(text ?? "");
  const isQuoted = new RegExp(MARK).test(groups.value ?? "");
  const isStyle = target.aspect === "color" || target.aspect === "background" || target.aspect === "size";
  if (look && (!isQuoted || isStyle)) return [{ kind: "setStyle", target, look }];
  return text === undefined || isStyle ? undefined : [{ kind: "setText", target, text }];
}

const MAKE = /^(?:make|turn|colou?r|paint|set|print|render)\s+(?<rest>.+)$/i;
const WISHED_LOOK =
  /^(?:(?:i (?:want|need)|i['’]d like|i would like)\s+(?<target>.+?)\s+(?:to be|in)|(?<subject>.+?)\s+(?:should|must|needs to)\s+be)\s+(?<look>.+)$/i;
const GIVE = /^give\s+(?<target>.+?)\s+(?<look>(?:an?\s.+\sbackground|an?\s.+\s(?:text|colou?r)))$/i;
const LOOK_VERBS: [RegExp, string][] = [
  [/^(?:enlarge|increase)\s+(?<target>.+)$/i, "bigger"],
  [/^(?:shrink|reduce)\s+(?<target>.+)$/i, "smaller"],
  [/^underline\s+(?<target>.+)$/i, "underlined"],
  [/^cent(?:er|re)\s+(?<target>.+)$/i, "centered"],
  [/^highlight\s+(?<target>.+)$/i, "yellow background"],
];

function readStyling(clause: Clause): Reading[] | undefined {
  const { words } = clause;
  const wished = WISHED_LOOK.exec(words)?.groups ?? GIVE.exec(words)?.groups;
  if (wished) return readStyle(wished.target ?? wished.subject, wished.look, clause);
  for (const [pattern, look] of LOOK_VERBS) {
    const groups = pattern.exec(words)?.groups;
    if (groups) return readStyle(groups.target, look, clause);
  }
  return readMaking(MAKE.exec(words)?.groups?.rest, clause);
}

function readStyle(
  words: string | undefined,
  look: string | undefined,
  clause: Clause,
): Reading[] | undefined {
  const read = readLook((look ?? "").replace(/[\s.!?]+$/, ""));
  return read && phrasesOf(words, clause)?.map((target) => ({ kind: "setStyle", target, look: read }));
}

/** Reads `make the headline and the notice bold and the buttons red`: each look applies to the elements before it. */
function readMaking(rest: string | undefined, clause: Clause): Reading[] | undefined {
  if (rest === undefined) return undefined;
  const readings: Reading[] = [];
  let pending = "";
  for (const segment of rest.replace(/[\s.!?]+$/, "").split(/,?\s+and\s+(?=(?:the|all|every|each|its)\s)/i)) {
    const joined = pending === "" ? segment : `${pending} and ${segment}`;
    const styled = splitLook(joined, clause);
    if (styled) readings.push(...styled);
    pending = styled ? "" : joined;
  }
  return pending === "" && readings.length > 0 ? readings : undefined;
}

/** Reads words as elements and then a look. The look is as long as possible. */
function splitLook(words: string, clause: Clause): Reading[] | undefined {
  const parts = words.split(/\s+/);
  for (let at = 1; at < parts.length; at += 1) {
    const styled = readStyle(parts.slice(0, at).join(" "), parts.slice(at).join(" "), clause);
    if (styled) return styled;
  }
  return undefined;
}
