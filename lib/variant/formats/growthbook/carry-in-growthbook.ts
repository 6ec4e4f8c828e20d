import type { Change } from "../../document.ts";
import type { Carried } from "../portable/carry-changes.ts";
import { isSvgTag, readHtml, toPortableHtml, toPortableText } from "../portable/html.ts";
import { isSingular, readSubjects, toSafeSelector, unwrapSelector } from "../portable/selector.ts";
import { writeDeclarations } from "../portable/style.ts";
import { type GrowthBookMutation, NOT_SVG, notInside, toRemoval } from "./growthbook-mutation.ts";
import type { ScriptInsert } from "./insert-script.ts";

/** A part of a change in GrowthBook: a mutation of its SDK, or an insertion by the script of the export. */
export type GrowthBookItem = GrowthBookMutation | { insert: ScriptInsert };
type CarriedMutations = Carried<GrowthBookItem>;

/** Elements of the document's head. GrowthBook hides elements instead of removing them, which has no effect there. */
const HEAD_TAGS = ["title", "meta", "link", "style", "script", "base", "head"];

/** Elements that get or lose an attribute when a visitor opens or closes them. */
const OPENED_TAGS = ["details", "dialog"];

/** Attribute names with a special meaning in dom-mutator, the library with which GrowthBook changes pages. */
const RESERVED_NAMES = ["html", "position", "classname"];

/**
 * Lists the names of the elements in which dom-mutator parses HTML. It first parses HTML in a `div`, and then in each
 * element that the selector matches. A matching element is listed only if the selector has its name.
 */
const listContexts = (selector: string): string[] => [
  "div",
  ...readSubjects(selector).flatMap(({ tag }) => tag ?? []),
];

/** Converts a single change to parts of an export for GrowthBook. Does not check how the change interacts with other changes. */
export function carryInGrowthBook(change: Change): CarriedMutations {
  const selector = toSafeSelector(change.selector);
  switch (change.op) {
    case "setText":
      return carryContent(selector, toPortableText(change.text, listContexts(change.selector)));
    case "setHtml":
      return carryHtml(selector, toPortableHtml(change.html, listContexts(change.selector)));
    case "setAttribute":
      return carryAttribute(change.selector, change.name, change.value);
    case "removeAttribute":
      return carryAttribute(change.selector, change.name, null);
    case "addClass":
      return carryClass(change.selector, { action: "append", value: change.className });
    case "removeClass":
      return carryClass(change.selector, { action: "remove", value: change.className });
    case "setStyle":
      return carryStyle(selector, change.style);
    case "insert":
      return {
        items: [{ insert: { selector, position: change.position, html: readHtml(change.html).html } }],
      };
    case "move":
      return carryMove(change);
    case "remove":
      return readSubjects(change.selector).some(({ tag }) => HEAD_TAGS.includes(tag ?? ""))
        ? { limit: "GrowthBook hides elements, which has no effect in the document's head" }
        : { items: toRemoval(selector) };
  }
}

const carryContent = (selector: string, value: string | undefined): CarriedMutations =>
  value === undefined
    ? { limit: "its content cannot be set as HTML without being read differently" }
    : { items: [{ selector, action: "set", attribute: "html", value }] };

function carryHtml(selector: string, portable: ReturnType<typeof toPortableHtml>): CarriedMutations {
  const opened = portable?.elements.find(({ tag }) => OPENED_TAGS.includes(tag));
  return opened
    ? { limit: `GrowthBook would set its HTML again whenever a visitor opens the ${opened.tag} in it` }
    : carryContent(selector, portable?.html);
}

/** Creates the mutation that sets an attribute, or removes the attribute if `value` is null. */
function carryAttribute(selector: string, name: string, value: string | null): CarriedMutations {
  const lower = name.toLowerCase();
  // Removing the class is written as setting an empty class, which has the same effect.
  if (lower === "class") return carryClass(selector, { action: "set", value: value ?? "" });
  if (RESERVED_NAMES.includes(lower) || name in {})
    return { limit: `GrowthBook cannot change an attribute with the name ${name}` };
  const common = { selector: toSafeSelector(selector), attribute: name };
  return { items: [value === null ? { ...common, action: "remove" } : { ...common, action: "set", value }] };
}

function carryClass(
  selector: string,
  mutation: Pick<GrowthBookMutation, "action" | "value">,
): CarriedMutations {
  const subjects = readSubjects(selector);
  if (subjects.some(({ tag }) => tag !== null && isSvgTag(tag)))
    return { limit: "GrowthBook cannot change the classes of SVG elements" };
  const safe = toSafeSelector(selector);
  const isHtml = subjects.every(({ tag }) => tag !== null);
  const target = isHtml ? safe : `${subjects.length > 1 ? `:is(${selector})` : safe}${NOT_SVG}`;
  return { items: [{ selector: target, attribute: "class", ...mutation }] };
}

function carryStyle(selector: string, style: Record<string, string>): CarriedMutations {
  const declarations = writeDeclarations(style);
  return declarations === undefined
    ? { limit: "GrowthBook appends to the style attribute, and a value is not one CSS value" }
    : { items: [{ selector, action: "append", attribute: "style", value: `;${declarations}` }] };
}

function carryMove({ selector, target, position }: Extract<Change, { op: "move" }>): CarriedMutations {
  if (position === "start" || position === "after")
    return { limit: `GrowthBook cannot keep an element at the position ${position}` };
  if (!isSingular(selector))
    return { limit: "GrowthBook moves only one element, so the selector must end with an id" };
  const common = { selector: toSafeSelector(selector), action: "set" as const, attribute: "position" };
  const outside = notInside(common.selector);
  if (position === "end")
    return { items: [{ ...common, parentSelector: `:is(${unwrapSelector(target.trim())})${outside}` }] };
  if (!isSingular(target))
    return { limit: "GrowthBook moves it before only one element, so the target must end with an id" };
  const insertBeforeSelector = toSafeSelector(target);
  const parentSelector = `:has(> :is(${unwrapSelector(insertBeforeSelector)}))${outside}`;
  return { items: [{ ...common, parentSelector, insertBeforeSelector }] };
}
