import { readTags } from "#lib/text/read-tags.ts";
import { findJson, isShortened, type PageElement, type PageReading, readData } from "./page-reading.ts";

const TEXT_MAX = 500;
const ROLES: Partial<Record<string, string>> = {
  select: "combobox",
  textarea: "textbox",
  a: "link",
  button: "button",
};
/** Elements whose text is read: a title, labels, and elements that are named by their text. */
const WITH_TEXT = new Set(["title", "label", "h1", "h2", "h3", "a", "button"]);

const collapse = (text: string) => text.replace(/\s+/g, " ").trim();

const toElement = (role: string, name: string, extra: Partial<PageElement> = {}): PageElement => ({
  role,
  name,
  text: name,
  selector: "",
  ...extra,
});

type Attributes = Map<string, string>;

/** A form field, which gets its name when all labels have been read. */
type Field = { role: string; attributes: Attributes };

function readField(tag: string, attributes: Attributes): Field[] {
  if (!["input", "select", "textarea"].includes(tag)) return [];
  const type = attributes.get("type")?.toLowerCase() ?? "";
  if (["hidden", "submit", "button"].includes(type)) return [];
  return [{ role: ["radio", "checkbox"].includes(type) ? type : (ROLES[tag] ?? "textbox"), attributes }];
}

function nameField({ role, attributes }: Field, labels: Map<string, string>): PageElement {
  const name =
    labels.get(attributes.get("id") ?? "") ||
    attributes.get("aria-label") ||
    attributes.get("placeholder") ||
    attributes.get("name") ||
    "";
  return toElement(role, name, { required: attributes.has("required") });
}

/** Reads title, fields, forms, headings, links and buttons, in this order. */
function readElements(html: string): { title: string; elements: PageElement[] } {
  const labels = new Map<string, string>();
  const fields: Field[] = [];
  const forms: PageElement[] = [];
  const headings: PageElement[] = [];
  const controls: PageElement[] = [];
  let title = "";
  /** The open elements of `WITH_TEXT`, at most one of each tag, because none may contain another of its tag. */
  const open = new Map<string, { text: string; attributes: Attributes }>();

  readTags(html, {
    onStart(tag, list) {
      const attributes: Attributes = new Map(
        list.map(({ name, value }) => [name, value.slice(0, TEXT_MAX).trim()]),
      );
      if (WITH_TEXT.has(tag)) open.set(tag, { text: "", attributes });
      fields.push(...readField(tag, attributes));
      if (tag === "form")
        forms.push(toElement("form", attributes.get("aria-label") || attributes.get("id") || "form"));
    },
    onText(piece) {
      for (const each of open.values())
        if (each.text.length < TEXT_MAX) each.text += piece.slice(0, TEXT_MAX - each.text.length);
    },
    onEnd(tag) {
      const ended = open.get(tag);
      if (!ended) return;
      open.delete(tag);
      const text = collapse(ended.text);
      if (tag === "title") title ||= text;
      else if (tag === "label") labels.set(ended.attributes.get("for") ?? "", text);
      else if (tag === "a" || tag === "button") controls.push(toElement(ROLES[tag] ?? "", text));
      else headings.push(toElement("heading", text, { selector: tag }));
    },
  });
  const named = fields.map((field) => nameField(field, labels));
  return { title, elements: [...named, ...forms, ...headings, ...controls] };
}

/** Reads a plain text up to line 40: lines that begin with `#` are headings, and others are paragraphs. */
const readLines = (text: string): PageElement[] =>
  text
    .split("\n")
    .slice(0, 40)
    .map((line) => {
      const heading = line.match(/^#{1,3}\s+(.{1,300})/)?.[1];
      return heading === undefined
        ? toElement("paragraph", line.trim().slice(0, 300))
        : toElement("heading", heading.trim());
    });

/**
 * Reads title, headings, links, buttons, forms and form fields from the result of a fetch: HTML, or JSON that contains
 * HTML. In a plain text, lines that begin with `#` become headings and other lines become paragraphs, up to line 40.
 * Reads the first 300,000 characters and never throws.
 */
export function readHtml(result: string, url: string): PageReading {
  const source = readData(result);
  const carrier = source.trimStart().startsWith("{") ? findJson(source) : undefined;
  const inner =
    typeof carrier === "object" && carrier !== null
      ? Object.values(carrier).find((value) => typeof value === "string" && value.length > 80)
      : undefined;
  const html = (typeof inner === "string" ? inner : source).slice(0, 300_000);
  const { title, elements } = readElements(html);
  if (!/<\w+/.test(html)) elements.push(...readLines(html));
  return {
    url,
    ...(title ? { title } : {}),
    elements: elements.filter(({ name }) => name !== ""),
    isCut: isShortened(result),
  };
}
