import type { PageNode } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { writeStyle } from "./edit-slot.ts";
import { insertNode } from "./guard-parent.ts";
import { map } from "./lists.ts";
import type { CompiledNode } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

const NAMESPACES = {
  html: "http://www.w3.org/1999/xhtml",
  svg: "http://www.w3.org/2000/svg",
  math: "http://www.w3.org/1998/Math/MathML",
};

function buildNode(compiled: CompiledNode): PageNode {
  if (typeof compiled === "string") return dom.createTextNode(document, compiled);
  const [tag, attributes, children, namespace] = compiled;
  const element = dom.createElementNS(document, NAMESPACES[namespace ?? "html"], tag);
  for (const name of Object.keys(attributes)) {
    const value = attributes[name] ?? "";
    if (name === "style") writeStyle(element, value);
    else dom.setAttribute(element, name, value);
  }
  const parent = element instanceof HTMLTemplateElement ? element.content : element;
  for (const child of buildNodes(children)) insertNode(parent, child, null);
  return element;
}

/** Builds nodes without parsing HTML strings. This also works on pages that enforce Trusted Types. */
export function buildNodes(compiled: CompiledNode[]): PageNode[] {
  return map(compiled, (each) => {
    const node = buildNode(each);
    shared.built.add(node);
    return node;
  });
}
