import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import type { Change, VariantPage } from "../../document.ts";
import { readHtml } from "./html.ts";
import { couldCoincide, couldMatch } from "./selector.ts";

/** A change that the format supports if no other change interferes, and the page of the change. */
export type Candidate = { page: VariantPage; change: Change };

/** Matches pseudo-classes that depend on attributes. */
const STATES =
  /:(?:checked|default|dir|disabled|enabled|lang|link|any-link|open|optional|placeholder-shown|read-|required|selected)/;
const NEIGHBOURS = /[+~]|:(?:nth|first|last|only|empty|has|not|is|where)/;
const FIELDS = ["input", "select", "textarea", "button"];

/** Whether two pages of a variant might both match one address. True if in doubt. */
export function canOverlap(one: Pick<VariantPage, "url" | "match">, other: typeof one): boolean {
  const patterns = [one, other].filter(({ match }) => match === "prefix" || match === "glob");
  const [pattern] = patterns;
  // The other address may have no query, so a pattern with a query cannot be compared with it.
  if (patterns.length === 2 || pattern?.url.includes("?")) return true;
  if (pattern) return matchesAddress(pattern, (pattern === one ? other : one).url);
  const [a, b] = [new URL(one.url), new URL(other.url)];
  return a.origin === b.origin && a.pathname === b.pathname;
}

/** Lists the attributes that a change writes. For a change of a class, also returns `className`. */
function listWritten(change: Change): { names: string[]; className?: string } {
  switch (change.op) {
    case "setAttribute":
    case "removeAttribute":
      return { names: [change.name.toLowerCase()] };
    case "addClass":
    case "removeClass":
      return { names: ["class"], className: change.className };
    case "setStyle":
      return { names: ["style"] };
    case "remove":
      return { names: ["style", "disabled"] };
    default:
      return { names: [] };
  }
}

function dependsOnAttribute(selector: string, name: string, className?: string): boolean {
  if (new RegExp(String.raw`\[\s*(?:[\w*]*\|)?${name.replace(/[.]/g, "\\$&")}(?![\w-])`, "i").test(selector))
    return true;
  if (name === "class")
    return selector.includes(className === undefined ? "." : `.${className}`) || selector.includes("\\");
  return name === "id" ? selector.includes("#") : STATES.test(selector);
}

/** Lists the selectors that decide where a change is applied. */
const listSelectors = (change: Change): string[] =>
  change.op === "move" ? [change.selector, change.target] : [change.selector];

/** Whether a change might affect elements in the HTML of another change. */
function reachesInto(change: Change, html: string): boolean {
  const { elements } = readHtml(html);
  if (change.op === "remove" && elements.some(({ tag }) => FIELDS.includes(tag))) return true;
  return listSelectors(change).some((selector) => elements.some((element) => couldMatch(selector, element)));
}

type Move = Extract<Change, { op: "move" }>;

/** Whether the target of a move might be the element or the target of the other move. */
const isCloseTo = (change: Move, other: Move): boolean =>
  [other.selector, other.target].some((selector) => couldCoincide(change.target, selector));

/** Lists the style properties that a change sets with `!important`. */
const listImportant = (change: Change): string[] => {
  if (change.op === "remove") return ["display"];
  if (change.op !== "setStyle") return [];
  return Object.keys(change.style).filter((name) => isImportant(change.style[name] ?? ""));
};

const isImportant = (value: string) => /!\s*important\s*$/i.test(value);

/** Whether an `!important` style of another change might override a style of this change. */
function isOverruled(change: Extract<Change, { op: "setStyle" }>, other: Change): boolean {
  const names = Object.keys(change.style).filter((name) => !isImportant(change.style[name] ?? ""));
  const isSameProperty = listImportant(other).some((important) =>
    names.some((name) => `${name}-`.startsWith(`${important}-`) || `${important}-`.startsWith(`${name}-`)),
  );
  return isSameProperty && couldCoincide(change.selector, other.selector);
}

/**
 * Returns why the result of a change depends on the order in which it and another change are applied. If `other` is the
 * change itself, returns a reason if its selector could find the elements that it inserts. Otherwise undefined.
 */
function findDependence(change: Change, other: Change): string | undefined {
  if (other.op === "setHtml" && reachesInto(change, other.html))
    return other === change
      ? "its selector could find the elements that it inserts"
      : `it could reach into the HTML that change ${other.id} sets`;
  if (other.op === "insert" && reachesInto(change, other.html))
    return other === change
      ? "its selector could find the elements that it inserts"
      : `it could reach into the HTML that change ${other.id} inserts`;
  if (other === change) return undefined;
  const isContent = other.op === "setHtml" || other.op === "setText";
  if (isContent && listSelectors(change).some((selector) => /:(?:empty|has\()/.test(selector)))
    return `its selector depends on the content that change ${other.id} sets`;
  if (change.op === "move" && isContent && couldCoincide(change.target, other.selector))
    return `it could move into the content that change ${other.id} sets`;
  if (change.op === "insert" && isContent && couldCoincide(change.selector, other.selector))
    return `it could insert into the content that change ${other.id} sets`;
  if (change.op === "insert" && other.op === "move" && couldCoincide(change.selector, other.target))
    return `it could insert at the place to which change ${other.id} moves`;
  if (other.op === "insert" && listSelectors(change).some((selector) => NEIGHBOURS.test(selector)))
    return `its selector depends on where elements are, and change ${other.id} inserts some`;
  if (change.op === "move" && other.op === "move" && isCloseTo(change, other))
    return `it could move to the place of change ${other.id}`;
  if (change.op === "move" && NEIGHBOURS.test(other.selector))
    return `the selector of change ${other.id} depends on where elements are`;
  if (change.op === "setStyle" && isOverruled(change, other))
    return `its style could lose against an important one of change ${other.id}`;
  const { names, className } = listWritten(other);
  const written = names.find((name) =>
    listSelectors(change).some((selector) => dependsOnAttribute(selector, name, className)),
  );
  return written === undefined
    ? undefined
    : `its selector depends on the ${written} attribute that change ${other.id} writes`;
}

/**
 * Returns why a change might have a different effect in a tool that applies changes one after the other. Undefined if
 * the effect is the same as in the runtime, which first finds the elements of all changes. The page itself is unknown
 * here, so in doubt the function returns a reason.
 */
export function findInterplay(candidate: Candidate, others: readonly Candidate[]): string | undefined {
  for (const other of others) {
    if (!canOverlap(candidate.page, other.page)) continue;
    const reason = findDependence(candidate.change, other.change);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
