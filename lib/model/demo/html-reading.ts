import { findJson, isShortened, type PageElement, type PageReading, readData } from "./page-reading.ts";

const entities: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  nbsp: " ",
  pound: "£",
  euro: "€",
};

function plain(html: string): string {
  return html
    .replace(/<[^>]{0,2000}>/g, " ")
    .replace(/&(\w{2,8});/g, (whole, name: string) => entities[name] ?? whole)
    .replace(/\s+/g, " ")
    .trim();
}

const attribute = (tag: string, name: string) =>
  tag.match(new RegExp(`\\s${name}\\s*=\\s*["']?([^"'>]{0,500})`, "i"))?.[1]?.trim() ?? "";

const roles: Record<string, string> = {
  select: "combobox",
  textarea: "textbox",
  a: "link",
  button: "button",
};

function element(role: string, name: string, extra: Partial<PageElement> = {}): PageElement {
  return { role, name, text: name, selector: "", ...extra };
}

function readFields(html: string): PageElement[] {
  const labels = new Map<string, string>();
  for (const [, tag = "", inner = ""] of html.matchAll(/<label\b([^>]{0,500})>([\s\S]{0,500}?)<\/label>/gi)) {
    labels.set(attribute(tag, "for"), plain(inner));
  }
  return [...html.matchAll(/<(input|select|textarea)\b([^>]{0,1000})>/gi)].flatMap(
    ([, kind = "", tag = ""]) => {
      const type = attribute(tag, "type").toLowerCase();
      if (["hidden", "submit", "button"].includes(type)) return [];
      const name =
        labels.get(attribute(tag, "id")) ||
        attribute(tag, "aria-label") ||
        attribute(tag, "placeholder") ||
        attribute(tag, "name");
      const role = ["radio", "checkbox"].includes(type) ? type : (roles[kind.toLowerCase()] ?? "textbox");
      return [element(role, name, { required: /\srequired\b/i.test(tag) })];
    },
  );
}

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
  const title = plain(html.match(/<title[^>]{0,200}>([\s\S]{0,500}?)<\/title>/i)?.[1] ?? "");
  const elements: PageElement[] = readFields(html);
  for (const [, tag = ""] of html.matchAll(/<form\b([^>]{0,1000})>/gi))
    elements.push(element("form", attribute(tag, "aria-label") || attribute(tag, "id") || "form"));
  for (const [, level = "", text = ""] of html.matchAll(/<h([1-3])\b[^>]{0,500}>([\s\S]{0,500}?)<\/h\1>/gi)) {
    elements.push(element("heading", plain(text), { selector: `h${level}` }));
  }
  for (const [, kind = "", text = ""] of html.matchAll(
    /<(a|button)\b[^>]{0,1000}>([\s\S]{0,500}?)<\/\1>/gi,
  )) {
    elements.push(element(roles[kind.toLowerCase()] ?? "", plain(text)));
  }
  if (!/<\w+/.test(html)) {
    for (const line of html.split("\n").slice(0, 40)) {
      const heading = line.match(/^#{1,3}\s+(.{1,300})/)?.[1];
      if (heading !== undefined) elements.push(element("heading", heading.trim()));
      else if (line.trim() !== "") elements.push(element("paragraph", line.trim().slice(0, 300)));
    }
  }
  return {
    url,
    ...(title ? { title } : {}),
    elements: elements.filter(({ name }) => name !== ""),
    isCut: isShortened(result),
  };
}
