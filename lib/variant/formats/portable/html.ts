import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html, parseFragment, serialize } from "parse5";

/** An element of parsed HTML. Its tag and the names of its attributes are in lower case. */
export type PortableElement = { tag: string; attributes: Map<string, string> };

type ParentNode = DefaultTreeAdapterTypes.ParentNode;

const SVG_TAGS = new Set(
  "svg g path circle ellipse rect line polyline polygon text tspan textpath use symbol defs lineargradient radialgradient stop clippath mask pattern marker image animate foreignobject".split(
    " ",
  ),
);

/** Whether an element of this name belongs to SVG. */
export const isSvgTag = (tag: string): boolean => SVG_TAGS.has(tag);

/** Parses a text as if it were set as `innerHTML` of an element of this name. */
function parseIn(tag: string, text: string) {
  const namespace = isSvgTag(tag) ? html.NS.SVG : html.NS.HTML;
  return parseFragment(defaultTreeAdapter.createElement(tag, namespace, []), text, {});
}

const listChildren = (parent: ParentNode): ParentNode[] =>
  parent.childNodes.flatMap((child) =>
    "content" in child ? [child as ParentNode, child.content] : "childNodes" in child ? [child] : [],
  );

function removeComments(parent: ParentNode): void {
  parent.childNodes = parent.childNodes.filter(({ nodeName }) => nodeName !== "#comment");
  for (const child of listChildren(parent)) removeComments(child);
}

function listElements(parent: ParentNode): PortableElement[] {
  return listChildren(parent).flatMap((child) => [
    ...("tagName" in child
      ? [
          {
            tag: child.tagName.toLowerCase(),
            attributes: new Map(
              child.attrs.map(({ name, prefix, value }) => [
                (prefix ? `${prefix}:${name}` : name).toLowerCase(),
                value,
              ]),
            ),
          },
        ]
      : []),
    ...listElements(child),
  ]);
}

/** Parses HTML as `compileHtml` does, and removes comments. The HTML must be valid. */
export function readHtml(text: string): { html: string; elements: PortableElement[] } {
  const tree = parseFragment(text);
  removeComments(tree);
  const elements = listElements(tree);
  return { html: serialize(tree), elements };
}

/**
 * Builds HTML that gives the same content in every element named in `tags` when it is set as `innerHTML`, even after it
 * was serialized and parsed again. Undefined if there is no such HTML, for example for table cells without a row.
 */
export function toPortableHtml(
  text: string,
  tags: string[],
): { html: string; elements: PortableElement[] } | undefined {
  const { html: content, elements } = readHtml(text);
  // This service parses HTML outside of SVG. Inside an SVG element, the same HTML would be parsed differently.
  if (tags.includes("template") || (elements.length > 0 && tags.some(isSvgTag))) return undefined;
  return tags.every((tag) => serialize(parseIn(tag, content)) === content)
    ? { html: content, elements }
    : undefined;
}

const escapeText = (text: string): string =>
  text.replace(/[&<>\u00A0]/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[each] ?? "&nbsp;");

/** Reads the text of a tree. Undefined if the tree also contains elements or comments. */
function readOnlyText(parent: ParentNode): string | undefined {
  const texts = parent.childNodes.map((child) => ("value" in child ? child.value : undefined));
  return texts.includes(undefined) ? undefined : texts.join("");
}

/** Builds HTML that is parsed to this text inside each element named in `tags`. Undefined if there is no such HTML. */
export function toPortableText(text: string, tags: string[]): string | undefined {
  const content = escapeText(text);
  // `innerHTML` of a template sets its `content`, not its children.
  if (tags.includes("template")) return undefined;
  return tags.every((tag) => readOnlyText(parseIn(tag, content)) === text) ? content : undefined;
}

/** Reads the text of HTML without markup. Undefined if the HTML contains elements or comments. */
export const readText = (text: string): string | undefined => readOnlyText(parseFragment(text));
