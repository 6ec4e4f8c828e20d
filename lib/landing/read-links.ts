/** A link as a file has it, and the address of `<base>` that it is relative to, if there is one. */
export type FileLink = { link: string; base?: string };

/** The attributes whose value is an address that the browser loads or opens. */
const LINKS = /^(href|src|srcset|imagesrcset|poster|data|action|formaction|background|xlink:href)$/i;
const ATTRIBUTE = /([^\s"'<>/=]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+))/g;
const CSS_LINK =
  /(?:url\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"'()\s]*))|@import\s*(?:"([^"\n]*)"|'([^'\n]*)'))/gi;
const LINKS_MAX = 5_000;
/** Elements whose content is text, in which `<` begins no tag. */
const TEXT_TAGS = ["script", "style", "textarea", "title", "template"];

/** Lists the links in the tags and styles of an HTML text, 5,000 at most. Takes linear time. */
export function readHtmlLinks(html: string): FileLink[] {
  const lower = html.toLowerCase();
  const links: string[] = [];
  let base: string | undefined;
  for (let at = html.indexOf("<"); at !== -1 && links.length < LINKS_MAX; at = html.indexOf("<", at)) {
    if (html.startsWith("<!--", at)) {
      at = after(html, "-->", at + 4);
      continue;
    }
    const end = endOfTag(html, at);
    const tag = html.slice(at, end);
    const name = /^<([a-z][a-z0-9:-]*)/i.exec(tag)?.[1]?.toLowerCase();
    at = Math.max(end, at + 1);
    if (name === undefined) continue;
    for (const [, attribute = "", ...values] of tag.slice(name.length + 1).matchAll(ATTRIBUTE)) {
      const value = decodeEntities(values.find((each) => each !== undefined) ?? "").trim();
      if (name === "base") base ??= attribute.toLowerCase() === "href" ? value : undefined;
      else if (attribute.toLowerCase() === "style")
        links.push(...readCssLinks(value).map(({ link }) => link));
      else if (/srcset$/i.test(attribute)) links.push(...readSourceSet(value));
      else if (LINKS.test(attribute) && value !== "") links.push(value);
    }
    if (!TEXT_TAGS.includes(name)) continue;
    const close = lower.indexOf(`</${name}`, at);
    const content = html.slice(at, close === -1 ? html.length : close);
    if (name === "style") links.push(...readCssLinks(content).map(({ link }) => link));
    at = close === -1 ? html.length : close;
  }
  return [...new Set(links)]
    .slice(0, LINKS_MAX)
    .map((link) => (base === undefined ? { link } : { link, base }));
}

/** Lists the addresses in a style sheet, 5,000 at most. */
export const readCssLinks = (css: string): FileLink[] => {
  const links = [...css.matchAll(CSS_LINK)].flatMap(([, ...values]) => values.find((each) => each) ?? []);
  return [...new Set(links)].slice(0, LINKS_MAX).map((link) => ({ link }));
};

/** Returns the index after the `>` that ends the tag at `start`. A `>` in a quoted value does not end it. */
function endOfTag(html: string, start: number): number {
  let quote = "";
  for (let at = start; at < html.length; at++) {
    const character = html[at] ?? "";
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === ">") return at + 1;
    else if ((character === '"' || character === "'") && html[at - 1] === "=") quote = character;
  }
  return html.length;
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found === -1 ? text.length : found + mark.length;
}

/** Lists the addresses of the candidates `address 2x, address 800w`. The commas of a data URL divide none. */
const readSourceSet = (value: string): string[] =>
  value
    .split(/,\s+|\s+[\d.]+[wx]\s*,\s*/)
    .map((candidate) => candidate.trim().split(/\s/, 1)[0] ?? "")
    .filter((address) => address !== "");

const ENTITIES: Record<string, string> = {
  amp: "&",
  quot: '"',
  apos: "'",
  lt: "<",
  gt: ">",
  sol: "/",
  "#38": "&",
  "#x26": "&",
  "#47": "/",
  "#x2f": "/",
};

const decodeEntities = (value: string): string =>
  value.replace(/&(#?\w{1,8});/g, (text, name: string) => ENTITIES[name.toLowerCase()] ?? text);
