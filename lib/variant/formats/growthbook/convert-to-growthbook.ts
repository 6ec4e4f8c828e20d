import type { Change } from "../../document.ts";
import type { Converted } from "../portable/convert-changes.ts";
import { isSvgTag, readHtml, toPortableHtml, toPortableText } from "../portable/html.ts";
import { isSingular, readSubjects, toSafeSelector, unwrapSelector } from "../portable/selector.ts";
import { writeDeclarations } from "../portable/style.ts";
import { type GrowthBookMutation, NOT_SVG, notInside, toRemoval } from "./growthbook-mutation.ts";
import type { ScriptInsert } from "./insert-script.ts";

/** A part of a change in GrowthBook: a mutation of its SDK, or an insertion by the script of the export. */
export type GrowthBookItem = GrowthBookMutation | { insert: ScriptInsert };
type ConvertedMutations = Converted<GrowthBookItem>;

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
export function convertToGrowthBook(change: Change): ConvertedMutations {
  const selector = toSafeSelector(change.selector);
  switch (change.op) {
    case "setText":
      return convertContent(selector, toPortableText(change.text, listContexts(change.selector)));
    case "setHtml":
      return convertHtml(selector, toPortableHtml(change.html, listContexts(change.selector)));
    case "setAttribute":
      return convertAttribute(change.selector, change.name, change.value);
    case "removeAttribute":
      return convertAttribute(change.selector, change.name, null);
    case "addClass":
      return convertClass(change.selector, { action: "append", value: change.className });
    case "removeClass":
      return convertClass(change.selector, { action: "remove", value: change.className });
    case "setStyle":
      return convertStyle(selector, change.style);
    case "insert":
      return {
        items: [{ insert: { selector, position: change.position, html: readHtml(change.html).html } }],
      };
    case "move":
      return convertMove(change);
    case "remove":
      return readSubjects(change.selector).some(({ tag }) => HEAD_TAGS.includes(tag ?? ""))
        ? { limit: "GrowthBook hides elements, which has no effect in the document's head" }
        : { items: toRemoval(selector) };
  }
}

const convertContent = (selector: string, value: string | undefined): ConvertedMutations =>
  value === undefined
    ? { limit: "its content cannot be set as HTML without being read differently" }
    : { items: [{ selector, action: "set", attribute: "html", value }] };

function convertHtml(selector: string, portable: ReturnType<typeof toPortableHtml>): ConvertedMutations {
  const opened = portable?.elements.find(({ tag }) => OPENED_TAGS.includes(tag));
  return opened
    ? { limit: `GrowthBook would set its HTML again whenever a visitor opens the ${opened.tag} in it` }
    : convertContent(selector, portable?.html);
}

/** Creates the mutation that sets an attribute, or removes the attribute if `value` is null. */
function convertAttribute(selector: string, name: string, value: string | null): ConvertedMutations {
  const lower = name.toLowerCase();
  // Removing the class is written as setting an empty class, which has the same effect.
  if (lower === "class") return convertClass(selector, { action: "set", value: value ?? "" });
  if (RESERVED_NAMES.includes(lower) || name in {})
    return { limit: `GrowthBook cannot change an attribute with the name ${name}` };
  const common = { selector: toSafeSelector(selector), attribute: name };
  return { items: [value === null ? { ...common, action: "remove" } : { ...common, action: "set", value }] };
}

function convertClass(
  selector: string,
  mutation: Pick<GrowthBookMutation, "action" | "value">,
): ConvertedMutations {
  const subjects = readSubjects(selector);
  if (subjects.some(({ tag }) => tag !== null && isSvgTag(tag)))
    return { limit: "GrowthBook cannot change the classes of SVG elements" };
  const safe = toSafeSelector(selector);
  const isHtml = subjects.every(({ tag }) => tag !== null);
  const target = isHtml ? safe : `${subjects.length > 1 ? `:is(${selector})` : safe}${NOT_SVG}`;
  return { items: [{ selector: target, attribute: "class", ...mutation }] };
}

function convertStyle(selector: string, style: Record<string, string>): ConvertedMutations {
  const declarations = writeDeclarations(style);
  return declarations === undefined
    ? { limit: "GrowthBook appends to the style attribute, and a value is not one CSS value" }
    : { items: [{ selector, action: "append", attribute: "style", value: `;${declarations}` }] };
}

function convertMove({ selector, target, position }: Extract<Change, { op: "move" }>): ConvertedMutations {
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
