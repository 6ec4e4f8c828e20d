import { readTags } from "#lib/text/read-tags.ts";

/** A link as a file has it, and the address of `<base>` that it is relative to, if there is one. */
export type FileLink = { link: string; base?: string };

/** The attributes whose value is an address that the browser loads or opens. */
const LINKS = /^(href|src|poster|data|action|formaction|background|xlink:href)$/i;
const CSS_LINK =
  /(?:url\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"'()\s]*))|@import\s*(?:"([^"\n]*)"|'([^'\n]*)'))/gi;
const LINKS_MAX = 5_000;
/** Lists the links in the tags and styles of an HTML text, 5,000 at most. */
export function readHtmlLinks(html: string): FileLink[] {
  const links: string[] = [];
  let base: string | undefined;
  let templates = 0;
  let style: string | undefined;
  function endStyle(): void {
    if (templates === 0) links.push(...readCssLinks(style ?? "").map(({ link }) => link));
    style = undefined;
  }
  readTags(html, {
    onStart(tag, attributes) {
      if (tag === "template") templates += 1;
      if (tag === "style") style = "";
      if (templates > 0 || links.length >= LINKS_MAX) return;
      if (tag === "base") base ??= attributes.find(({ name }) => name === "href")?.value.trim();
      else for (const { name, value } of attributes) links.push(...readAttribute(name, value.trim()));
    },
    onEnd(tag) {
      if (tag === "template") templates = Math.max(0, templates - 1);
      if (tag === "style") endStyle();
    },
    onText(piece) {
      if (style !== undefined) style += piece;
    },
  });
  // The style element at the end of the text may have no end tag.
  endStyle();
  return [...new Set(links)]
    .slice(0, LINKS_MAX)
    .map((link) => (base === undefined ? { link } : { link, base }));
}

function readAttribute(name: string, value: string): string[] {
  if (name === "style") return readCssLinks(value).map(({ link }) => link);
  if (name.endsWith("srcset")) return readSourceSet(value);
  return LINKS.test(name) && value !== "" ? [value] : [];
}

/** Lists the addresses in a style sheet, 5,000 at most. */
export const readCssLinks = (css: string): FileLink[] => {
  const links = [...css.matchAll(CSS_LINK)].flatMap(([, ...values]) => values.find((each) => each) ?? []);
  return [...new Set(links)].slice(0, LINKS_MAX).map((link) => ({ link }));
};

/** Lists the addresses of the candidates `address 2x, address 800w`. The commas of a data URL divide none. */
const readSourceSet = (value: string): string[] =>
  value
    .split(/,\s+|\s+[\d.]+[wx]\s*,\s*/)
    .map((candidate) => candidate.trim().split(/\s/, 1)[0] ?? "")
    .filter((address) => address !== "");
