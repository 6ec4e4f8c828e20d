import { beginningOf } from "#lib/text/whole-characters.ts";
import { type PageElement, readPage } from "../page-reading.ts";
import type { ToolExchange } from "../tool-exchange.ts";
import { contentOf, findElements, type Search, squash } from "./find-elements.ts";
import { styleOf } from "./look.ts";
import type { Edit } from "./read-edit.ts";

/** A change in the input of `apply_variant`. */
export type PlannedChange = { op: string; selector: string; note: string } & Record<string, unknown>;

/** Returns the changes that a call of `apply_variant` adds. The cast is safe: the demo model wrote the input. */
export const listAdded = ({ add }: Record<string, unknown>): PlannedChange[] =>
  Array.isArray(add) ? (add as PlannedChange[]) : [];

/** The state of an edit: it needs a query first, its changes are ready, or it is impossible. */
export type Prepared =
  | { kind: "query"; input: Record<string, unknown> }
  | { kind: "ready"; changes: PlannedChange[]; remark?: string }
  | { kind: "failed"; reason: string };

type Found = Search & { kind: "found" };

const NOTE_CHARACTERS_MAX = 300;
/** Maximum number of characters of an element's text that `dom_query` shows. */
const SHOWN_CHARACTERS_MAX = 160;
const NO_TEXT = /^(?:textbox|searchbox|combobox|listbox|spinbutton|checkbox|radio|switch|slider|img|image)$/;
const AREA = /^(?:button|banner|contentinfo|navigation|complementary|form|dialog)$/;

/** Finds the elements of an edit in the results of the turn's queries, and prepares the changes of the edit. */
export function prepareEdit(edit: Edit, exchanges: ToolExchange[]): Prepared {
  const forText = edit.kind === "setText" || edit.kind === "replaceText";
  const search = findElements(edit.target, exchanges, forText);
  if (search.kind === "query") return search;
  if (search.kind === "missing") return { kind: "failed", reason: explainMissing(edit, search) };
  const prepared = forText ? prepareText(edit, search, exchanges) : prepareOther(edit, search);
  if (prepared.kind !== "ready" || edit.target.which !== 0 || search.matches < 2) return prepared;
  const remark = `${search.matches} elements match ${edit.target.words}; this is the first one.`;
  return { ...prepared, remark };
}

function explainMissing({ target }: Edit, { closest, error }: Search & { kind: "missing" }): string {
  if (error !== undefined) return `I could not look for ${target.words}: ${error}`;
  const hint = closest === undefined ? "" : ` Closest on the page: ${closest}`;
  return `I found no visible element for ${target.words}.${hint}`;
}

const noteOf = ({ words }: Edit): string => beginningOf(words, NOTE_CHARACTERS_MAX);

function prepareText(
  edit: Edit & { kind: "setText" | "replaceText" },
  { elements }: Found,
  exchanges: ToolExchange[],
): Prepared {
  const changes: PlannedChange[] = [];
  for (const element of elements) {
    const text = newTextOf(edit, element, exchanges);
    if (typeof text !== "string") return text;
    changes.push({ op: "setText", selector: element.selector, text, note: noteOf(edit) });
  }
  return { kind: "ready", changes };
}

/** Returns the new text of an element, the query that must be made first, or why the text cannot be changed. */
function newTextOf(
  edit: Edit & { kind: "setText" | "replaceText" },
  element: PageElement,
  exchanges: ToolExchange[],
): string | Exclude<Prepared, { kind: "ready" }> {
  const fail = (reason: string) => ({ kind: "failed", reason }) as const;
  const content = contentOf(element);
  if (NO_TEXT.test(element.role))
    return fail(`${edit.target.words} is a form field or a picture, which has no text to change.`);
  if (content === edit.text) return fail(`${edit.target.words} already says “${edit.text}”.`);
  if (edit.kind === "setText" || squash(content) === squash(edit.before)) return edit.text;

  const start = content.toLowerCase().indexOf(edit.before.toLowerCase());
  if (start === -1) return fail(`“${edit.before}” is not in a text that I can change.`);
  if (content.length >= SHOWN_CHARACTERS_MAX)
    return fail(`The text with “${edit.before}” is too long for me.`);
  // First queries the child elements, because setting the text of an element removes them.
  const selector = `${element.selector} > *`;
  const children = exchanges.find(
    ({ toolName, input }) => toolName === "dom_query" && input.selector === selector,
  );
  if (children?.result === undefined) return { kind: "query", input: { selector, includeHidden: true } };
  if (children.result.isError) return fail(`I could not look inside of ${element.selector}.`);
  if (readPage(children.result.text).elements.length > 0)
    return fail(`The text with “${edit.before}” has other elements inside of it, so I left it as it is.`);
  return content.slice(0, start) + edit.text + content.slice(start + edit.before.length);
}

function prepareOther(edit: Exclude<Edit, { kind: "setText" | "replaceText" }>, found: Found): Prepared {
  const { elements } = found;
  const selectors =
    found.selector === undefined ? elements.map(({ selector }) => selector) : [found.selector];
  const change = changeOf(edit, elements);
  return {
    kind: "ready",
    changes: selectors.map((selector) => ({ ...change, selector, note: noteOf(edit) })),
  };
}

function changeOf(
  edit: Exclude<Edit, { kind: "setText" | "replaceText" }>,
  elements: PageElement[],
): { op: string } & Record<string, unknown> {
  switch (edit.kind) {
    case "remove":
      return { op: "remove" };
    case "insert":
      return {
        op: "insert",
        position: edit.position,
        html: `<${edit.tag}>${escapeHtml(edit.text)}</${edit.tag}>`,
      };
    case "setStyle": {
      const { target, look } = edit;
      const isArea = target.isArea || elements.every(({ role }) => AREA.test(role));
      return { op: "setStyle", style: styleOf(look, isArea, target.aspect) };
    }
  }
}

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
