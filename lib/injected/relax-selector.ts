/** Attributes that a page sets while it is used, and that describe its environment rather than an element. */
const STATE_ATTRIBUTE =
  /^(hidden|open|disabled|checked|selected|readonly|required|inert|popover|dir|lang|aria-[\w-]+|data-(state|open|closed|active|selected|hidden|visible|loading|disabled|expanded|highlighted|theme|mode|color-scheme))$/i;
/** Classes that a page sets while it is used. */
const STATE_CLASS =
  /^(is|has|was|no|js)-|^(active|open|opened|closed|hidden|visible|show|shown|selected|current|disabled|loading|loaded|expanded|collapsed|collapsing|checked|focus|focused|hover|hovered|pressed|dragging|sticky|stuck|dark|light|error|invalid|valid|success)$|--(active|open|opened|closed|hidden|visible|shown|selected|current|disabled|loading|expanded|collapsed|checked)$/i;
/** Pseudo-classes that say where an element is, not in which state. */
const STRUCTURAL = /^:(root|host|scope|(nth|first|last|only)-[\w-]+)$/i;
/** Pseudo-classes that take selectors. `:not()` only narrows down what matches, so it is removed. */
const WITH_SELECTORS = /^:(is|where|has|host-context|-webkit-any)$/i;

/**
 * Removes from a selector what depends on the state of the page: `:hover`, `::before`, `[hidden]`, `.is-open`. If the
 * result matches nothing on a page, the selector will not match there in another state either. Takes linear time.
 */
const relaxSelector = (selector: string): string => splitList(selector).map(relaxOne).join(", ");

/**
 * Returns a selector for the elements that a rule can match in any state of the page. Null if this cannot be said
 * without the place of the rule.
 */
export function toQuery(selector: string): string | null {
  const relaxed = relaxSelector(selector);
  return relaxed.includes(">>") || /:(host|scope)/.test(relaxed) ? null : relaxed;
}

function relaxOne(selector: string): string {
  let relaxed = "";
  for (let at = 0; at < selector.length; ) {
    const part = readPart(selector, at);
    at += part.length;
    relaxed += relaxPart(part);
  }
  // A part that was removed completely is any element.
  const filled = relaxed.trim().replace(/^(?=[>+~]|$)|([>+~])\s*(?=[>+~]|$)/g, "$1 * ");
  return filled.trim();
}

/** Reads an attribute selector, a pseudo-class or pseudo-element, a class, or one other character. */
function readPart(selector: string, at: number): string {
  const character = selector[at] ?? "";
  if (character === "[") return selector.slice(at, endOfBrackets(selector, at));
  const [name] = /^(?:::?-?[\w-]+|\.(?:[\w-]|\\.|\P{ASCII})+|\\.)/su.exec(selector.slice(at, at + 300)) ?? [];
  if (name === undefined) return character;
  const end = at + name.length;
  const hasArgument = character === ":" && selector[end] === "(";
  return selector.slice(at, hasArgument ? endOfBrackets(selector, end) : end);
}

function relaxPart(part: string): string {
  if (part.startsWith("[")) return STATE_ATTRIBUTE.test(/^\[\s*([\w-]+)/.exec(part)?.[1] ?? "") ? "" : part;
  if (part.startsWith(".") && part.length > 1) return STATE_CLASS.test(part.slice(1)) ? "" : part;
  if (!part.startsWith(":")) return part;
  const name = part.split("(", 1)[0] ?? "";
  if (STRUCTURAL.test(name)) return part;
  if (!WITH_SELECTORS.test(name)) return "";
  const inner = part.slice(name.length + 1, -1);
  const relaxed = relaxSelector(inner);
  // With an alternative that is any element, the pseudo-class does not narrow down what matches.
  return splitList(relaxed).includes("*") ? "" : `${name}(${relaxed})`;
}

/** Splits a selector list at its commas, outside of brackets and strings. */
function splitList(selector: string): string[] {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < selector.length; at++) {
    const character = selector[at] ?? "";
    if (character === "\\") at++;
    else if ("([".includes(character)) at = endOfBrackets(selector, at) - 1;
    else if (character === ",") {
      parts.push(selector.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, selector.slice(start).trim()];
}

/** Returns the index after the bracket that closes the bracket at `start`. */
function endOfBrackets(selector: string, start: number): number {
  let depth = 0;
  let quote = "";
  for (let at = start; at < selector.length; at++) {
    const character = selector[at] ?? "";
    if (character === "\\") at++;
    else if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if ("([".includes(character)) depth++;
    else if (")]".includes(character) && --depth === 0) return at + 1;
  }
  return selector.length;
}
