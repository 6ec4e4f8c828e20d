import { Tokenizer, TokenizerMode } from "parse5";

/** A link as a file has it, and the address of `<base>` that it is relative to, if there is one. */
export type FileLink = { link: string; base?: string };

/** The attributes whose value is an address that the browser loads or opens. */
const LINKS = /^(href|src|poster|data|action|formaction|background|xlink:href)$/i;
const CSS_LINK =
  /(?:url\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^"'()\s]*))|@import\s*(?:"([^"\n]*)"|'([^'\n]*)'))/gi;
const LINKS_MAX = 5_000;
/** Elements whose content is text, with the state in which the tokenizer reads it. */
const TEXT_STATES: Partial<Record<string, Tokenizer["state"]>> = {
  script: TokenizerMode.SCRIPT_DATA,
  style: TokenizerMode.RAWTEXT,
  textarea: TokenizerMode.RCDATA,
  title: TokenizerMode.RCDATA,
};

/**
 * Lists the links in the tags and styles of an HTML text, 5,000 at most. Reads tags only and builds no tree, because the
 * tree of a short text can be huge.
 */
export function readHtmlLinks(html: string): FileLink[] {
  const links: string[] = [];
  let base: string | undefined;
  let templates = 0;
  let style: string | undefined;
  const ignore = () => {};
  function addToStyle({ chars }: { chars: string }): void {
    if (style !== undefined) style += chars;
  }
  function endStyle(): void {
    if (templates === 0) links.push(...readCssLinks(style ?? "").map(({ link }) => link));
    style = undefined;
  }
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag({ tagName, attrs }) {
        tokenizer.state = TEXT_STATES[tagName] ?? tokenizer.state;
        tokenizer.lastStartTagName = tagName;
        if (tagName === "template") templates += 1;
        if (tagName === "style") style = "";
        if (templates > 0 || links.length >= LINKS_MAX) return;
        if (tagName === "base") base ??= attrs.find(({ name }) => name === "href")?.value.trim();
        else for (const { name, value } of attrs) links.push(...readAttribute(name, value.trim()));
      },
      onEndTag({ tagName }) {
        if (tagName === "template") templates = Math.max(0, templates - 1);
        if (tagName === "style") endStyle();
      },
      onCharacter: addToStyle,
      onWhitespaceCharacter: addToStyle,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: endStyle,
    },
  );
  tokenizer.write(html, true);
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
