import type { PortableElement } from "./html.ts";

/**
 * What the last part of a selector requires of a matching element. For example, `button#pay.big` requires a tag, an id
 * and a class.
 */
type Subject = { tag: string | null; id: string | null; classes: string[] };

/** Splits a text at separators that are not inside strings, escapes or brackets. Takes linear time. */
function splitTopLevel(text: string, isSeparator: (character: string) => boolean): string[] {
  const parts: string[] = [""];
  let depth = 0;
  let quote = "";
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? "";
    const isEscape = character === "\\";
    const piece = isEscape ? text.slice(index, index + 2) : character;
    if (isEscape) index++;
    else if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if ("([".includes(character)) depth++;
    else if (")]".includes(character)) depth--;
    if (!isEscape && quote === "" && depth === 0 && isSeparator(character)) parts.push("");
    else parts[parts.length - 1] += piece;
  }
  return parts;
}

/** Splits a selector list at its commas. */
const splitList = (selector: string): string[] =>
  splitTopLevel(selector, (character) => character === ",").map((part) => part.trim());

const isCombinator = (character: string) => /[\s>+~]/.test(character);

function readSubject(complex: string): Subject {
  const compound = splitTopLevel(complex, isCombinator).findLast((part) => part !== "") ?? "";
  // Attributes and pseudo-classes only narrow down what matches, so they can be ignored. If the part has escapes or
  // non-ASCII characters, its names are not read, and the subject has no tag, id or class.
  const isOpaque = /[\\\u0080-\uFFFF]/.test(compound);
  const bare = isOpaque ? "" : (splitTopLevel(compound, (each) => each === ":")[0] ?? "");
  const names = bare.replace(/\[.*\]/s, "");
  return {
    tag: /^[A-Za-z][\w-]*/.exec(names)?.[0].toLowerCase() ?? null,
    id: /#([\w-]+)/.exec(names)?.[1] ?? null,
    classes: [...names.matchAll(/\.([\w-]+)/g)].map(([, name = ""]) => name),
  };
}

/** Reads the subject of each selector in a selector list. */
export const readSubjects = (selector: string): Subject[] => splitList(selector).map(readSubject);

/** Whether a selector might match an element. Considers only the last part of the selector. */
export const couldMatch = (selector: string, { tag, attributes }: PortableElement): boolean =>
  readSubjects(selector).some(
    (subject) =>
      (subject.tag ?? tag) === tag &&
      (subject.id === null || subject.id === attributes.get("id")) &&
      subject.classes.every((name) => (attributes.get("class") ?? "").split(/\s+/).includes(name)),
  );

/** Whether two selectors might match the same element. Considers only the tag and the id in their last parts. */
export const couldCoincide = (one: string, other: string): boolean =>
  readSubjects(one).some((a) =>
    readSubjects(other).some(
      (b) =>
        (a.tag === null || b.tag === null || a.tag === b.tag) &&
        (a.id === null || b.id === null || a.id === b.id),
    ),
  );

/** Whether a selector matches at most one element, because its last part has an id. */
export function isSingular(selector: string): boolean {
  const [subject, ...others] = readSubjects(selector);
  return others.length === 0 && typeof subject?.id === "string";
}

const NAME = String.raw`-?[A-Za-z_][\w-]*`;
const VALUE = String.raw`(?:"[^"\\\n]*"|'[^'\\\n]*'|${NAME})`;
const NTH = String.raw`\s*(?:odd|even|[+-]?\d*n(?:\s*[+-]\s*\d+)?|[+-]?\d+)\s*`;
const PSEUDO = String.raw`:(?:(?:first|last|only)-(?:child|of-type)|empty|checked|disabled|enabled|nth-(?:last-)?(?:child|of-type)\(${NTH}\))`;
const SUFFIX = String.raw`(?:[.#]${NAME}|\[${NAME}(?:[~|^$*]?=${VALUE})?\]|${PSEUDO})`;
const COMPOUND = String.raw`(?:(?:${NAME}|\*)${SUFFIX}*|${SUFFIX}+)`;
/** Matches selectors that every browser supports. */
const PLAIN = new RegExp(String.raw`^${COMPOUND}(?:(?:\s*[>+~,]\s*|\s+)${COMPOUND})*$`);

/**
 * Builds a selector that `querySelectorAll` accepts in every browser. The SDKs of the tools do not catch the error of a
 * selector that the browser rejects, and would not apply the rest of the experiment. `:is()` ignores selectors that the
 * browser does not support.
 */
export function toSafeSelector(selector: string): string {
  const trimmed = selector.trim();
  return PLAIN.test(trimmed) || unwrapSelector(trimmed) !== trimmed ? trimmed : `:is(${trimmed})`;
}

/** Removes the `:is()` that `toSafeSelector` has added. */
export function unwrapSelector(selector: string): string {
  if (!selector.startsWith(":is(") || !selector.endsWith(")")) return selector;
  const inner = selector.slice(4, -1);
  // `:is(a) b:is(c)` also begins with `:is(` and ends with `)`. Its first bracket closes early, so the depth falls
  // below zero.
  let depth = 0;
  for (const character of inner.replace(/\\./gs, "").replace(/"[^"]*"|'[^']*'/g, "")) {
    if (character === "(") depth++;
    if (character === ")") depth--;
    if (depth < 0) return selector;
  }
  return depth === 0 ? inner : selector;
}

/** Returns why a selector cannot be used as plain CSS, phrased as a part of a sentence. Undefined if it can be used. */
export function findSelectorLimit(selector: string): string | undefined {
  if (/(^|>>)\s*nth=\d+\s*(>>|$)/.test(selector))
    return "its selector takes one of several elements by number";
  return selector.includes(">>") ? "its selector uses >>, which reaches into shadow roots" : undefined;
}
