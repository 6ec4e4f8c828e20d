import { writeStyle } from "./edit-slot.ts";
import type { CompiledNode } from "./runtime-types.ts";
import { shared } from "./shared-state.ts";

const NAMESPACES = {
  svg: "http://www.w3.org/2000/svg",
  math: "http://www.w3.org/1998/Math/MathML",
};

function buildNode(compiled: CompiledNode): Node {
  if (typeof compiled === "string") return document.createTextNode(compiled);
  const [tag, attributes, children, namespace] = compiled;
  const element = namespace
    ? document.createElementNS(NAMESPACES[namespace], tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "style") writeStyle(element, value);
    else element.setAttribute(name, value);
  }
  const parent = element instanceof HTMLTemplateElement ? element.content : element;
  parent.append(...buildNodes(children));
  return element;
}

/** Builds nodes without parsing HTML strings. This also works on pages that enforce Trusted Types. */
export function buildNodes(compiled: CompiledNode[]): Node[] {
  return compiled.map((each) => {
    const node = buildNode(each);
    shared.built.add(node);
    return node;
  });
}
