import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html, parseFragment, serialize } from "parse5";

/** An element in HTML, its names in lower case. */
export type PortableElement = { tag: string; attributes: Map<string, string> };

type ParentNode = DefaultTreeAdapterTypes.ParentNode;

const SVG_TAGS = new Set(
  "svg g path circle ellipse rect line polyline polygon text tspan textpath use symbol defs lineargradient radialgradient stop clippath mask pattern marker image animate foreignobject".split(
    " ",
  ),
);

/** Whether an element of this name is part of a drawing. */
export const isSvgTag = (tag: string): boolean => SVG_TAGS.has(tag);

/** Parses as `innerHTML` of an element of this name does. */
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

/** Reads checked HTML as the runtime does, without comments. */
export function readHtml(text: string): { html: string; elements: PortableElement[]; hasText: boolean } {
  const tree = parseFragment(text);
  removeComments(tree);
  const elements = listElements(tree);
  return { html: serialize(tree), elements, hasText: tree.childNodes.length > 0 };
}

/**
 * HTML that means the same as `innerHTML` of each of these elements, however often it is read and written; undefined if
 * there is none, as for table cells without a row.
 */
export function toPortableHtml(
  text: string,
  tags: string[],
): { html: string; elements: PortableElement[] } | undefined {
  const { html: content, elements } = readHtml(text);
  // The runtime builds what the HTML is outside of a drawing.
  if (tags.includes("template") || (elements.length > 0 && tags.some(isSvgTag))) return undefined;
  return tags.every((tag) => serialize(parseIn(tag, content)) === content)
    ? { html: content, elements }
    : undefined;
}

const escapeText = (text: string): string =>
  text.replace(/[&<>\u00A0]/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[each] ?? "&nbsp;");

/** The text of a tree that is nothing else; undefined if there are elements. */
function readOnlyText(parent: ParentNode): string | undefined {
  const texts = parent.childNodes.map((child) => ("value" in child ? child.value : undefined));
  return texts.includes(undefined) ? undefined : texts.join("");
}

/** A text as HTML that means the same inside each of these elements; undefined if there is none. */
export function toPortableText(text: string, tags: string[]): string | undefined {
  const content = escapeText(text);
  // What is set in a template is not a child of it.
  if (tags.includes("template")) return undefined;
  return tags.every((tag) => readOnlyText(parseIn(tag, content)) === text) ? content : undefined;
}

/** The text of HTML without elements and comments; undefined if it has some. */
export const readText = (text: string): string | undefined => readOnlyText(parseFragment(text));
