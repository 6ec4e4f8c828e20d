import { type DefaultTreeAdapterTypes, defaultTreeAdapter, html, parseFragment } from "parse5";
import type { CompiledNode } from "#lib/injected/runtime/runtime-types.ts";
import { findAttributeProblem } from "./unsafe-attributes.ts";

const NODES_MAX = 2_000;
const DEPTH_MAX = 100;
/**
 * Maximum number of elements that the parser may create, including elements that it discards. Without this limit, a
 * short text could make the parser create a huge number of elements.
 */
const CREATED_ELEMENTS_MAX = 4 * NODES_MAX;

const NAME = /^[A-Za-z_][\w:.-]*$/;
const REFUSED_ELEMENTS = new Set([
  "script",
  "object",
  "embed",
  "applet",
  "base",
  "frame",
  "frameset",
  "portal",
]);

/**
 * An error that says why HTML cannot be compiled. Throwing it stops the parser and the traversal of the tree at once.
 */
class HtmlProblem extends Error {}

/** Creates a tree adapter for the parser. The adapter throws when the parser has created too many elements. */
function createLimitedAdapter(): typeof defaultTreeAdapter {
  let created = 0;
  return {
    ...defaultTreeAdapter,
    createElement(tagName, namespace, attributes) {
      created += 1;
      if (created > CREATED_ELEMENTS_MAX) throw new HtmlProblem(tooManyNodes);
      return defaultTreeAdapter.createElement(tagName, namespace, attributes);
    },
  };
}

const tooManyNodes = `must have at most ${NODES_MAX.toLocaleString("en")} nodes`;

type ParentNode = DefaultTreeAdapterTypes.ParentNode;
type Element = DefaultTreeAdapterTypes.Element;

/**
 * Compiles HTML to nodes that the runtime can build without `innerHTML`. Table rows, list items and options are
 * accepted without their parent element. Refuses HTML that has too many nodes or levels, runs scripts or embeds other
 * documents. Iframes with http or https addresses are allowed.
 */
export function compileHtml(text: string): { nodes: CompiledNode[] } | { problem: string } {
  let nodes = 0;

  function compileChildren(parent: ParentNode, depth: number): CompiledNode[] {
    return parent.childNodes.flatMap((child): CompiledNode[] => {
      if (child.nodeName === "#comment" || child.nodeName === "#documentType") return [];
      nodes += 1;
      if (nodes > NODES_MAX) throw new HtmlProblem(tooManyNodes);
      if ("value" in child) return [child.value];
      return "tagName" in child ? [compileElement(child, depth)] : [];
    });
  }

  function compileElement(element: Element, depth: number): CompiledNode {
    if (depth > DEPTH_MAX) throw new HtmlProblem(`must be nested at most ${DEPTH_MAX} levels deep`);
    checkElement(element);
    const attributes = Object.fromEntries(
      element.attrs.map(({ name, prefix, value }) => {
        checkAttribute(element, prefix ? `${prefix}:${name}` : name, value);
        // The runtime sets attributes without namespaces, so `xlink:href` becomes `href`, which SVG elements accept
        // too.
        return [prefix === "xlink" || !prefix ? name : `${prefix}:${name}`, value];
      }),
    );
    const content = "content" in element ? (element as DefaultTreeAdapterTypes.Template).content : element;
    const children = compileChildren(content, depth + 1);
    if (element.namespaceURI === html.NS.SVG) return [element.tagName, attributes, children, "svg"];
    if (element.namespaceURI === html.NS.MATHML) return [element.tagName, attributes, children, "math"];
    return [element.tagName, attributes, children];
  }

  try {
    const tree = parseFragment(text, { treeAdapter: createLimitedAdapter() });
    return { nodes: compileChildren(tree, 1) };
  } catch (error) {
    if (error instanceof HtmlProblem) return { problem: error.message };
    throw error;
  }
}

function checkElement(element: Element): void {
  const tag = element.tagName.toLowerCase();
  if (tag === "script") throw new HtmlProblem("script elements are not allowed; use the page's js instead");
  if (REFUSED_ELEMENTS.has(tag)) throw new HtmlProblem(`${tag} elements are not allowed`);
  if (!NAME.test(element.tagName)) throw new HtmlProblem(`"${element.tagName}" is not a valid element name`);
  const read = (name: string) => element.attrs.find((attribute) => attribute.name === name)?.value;
  if (tag === "meta" && read("http-equiv") !== undefined)
    throw new HtmlProblem("meta elements with http-equiv are not allowed");
  if (tag === "iframe" && !isWebAddress(read("src") ?? ""))
    throw new HtmlProblem("the src of an iframe must be an http or https address");
}

function checkAttribute(element: Element, name: string, value: string): void {
  if (!NAME.test(name)) throw new HtmlProblem(`"${name}" is not a valid attribute name`);
  const problem = findAttributeProblem(name, value, element.tagName);
  if (problem !== undefined) throw new HtmlProblem(problem);
}

/** Whether an address is an http or https address after it has been resolved against a page's address. */
function isWebAddress(address: string): boolean {
  if (address.trim() === "" || !URL.canParse(address, "https://page.invalid/")) return false;
  return /^https?:$/.test(new URL(address, "https://page.invalid/").protocol);
}
