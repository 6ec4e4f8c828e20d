import type { MicrodataItem } from "./page-job.ts";

const ITEMS_MAX = 500;
const ADDRESSES: Record<string, string> = {
  a: "href",
  area: "href",
  link: "href",
  audio: "src",
  embed: "src",
  iframe: "src",
  img: "src",
  source: "src",
  track: "src",
  video: "src",
  object: "data",
};

/**
 * Reads a page's top-level microdata items. `itemref` is followed, but not in cycles. Source: HTML Standard, Microdata.
 */
export function readMicrodata(document: Document, url: string): MicrodataItem[] {
  const items = [...document.querySelectorAll("[itemscope]:not([itemprop])")];
  return items.slice(0, ITEMS_MAX).map((item) => readItem(item, url, [item]));
}

function readItem(item: Element, url: string, above: readonly Element[]): MicrodataItem {
  const properties = new Map<string, unknown[]>();
  for (const element of findProperties(item))
    for (const name of readWords(element, "itemprop"))
      properties.set(name, [...(properties.get(name) ?? []), readValue(element, url, above)]);
  const id = item.getAttribute("itemid");
  return {
    type: readWords(item, "itemtype"),
    ...(id && { id: URL.parse(id, url)?.href ?? id }),
    properties: Object.fromEntries(properties),
  };
}

/**
 * Finds the property elements of an item: elements below the item, its `itemref` targets, and elements below these
 * targets. Elements below a nested item belong to the nested item and are left out.
 */
function findProperties(item: Element): Element[] {
  const found: Element[] = [];
  const roots: Element[] = [...item.children];
  for (const id of readWords(item, "itemref")) {
    const referred = item.ownerDocument.getElementById(id);
    if (referred && !roots.includes(referred) && !referred.contains(item)) roots.push(referred);
  }
  const waiting = roots.reverse();
  for (let element = waiting.pop(); element; element = waiting.pop()) {
    if (element.hasAttribute("itemprop")) found.push(element);
    if (!element.hasAttribute("itemscope")) waiting.push(...[...element.children].reverse());
  }
  return found;
}

function readValue(element: Element, url: string, above: readonly Element[]): unknown {
  if (element.hasAttribute("itemscope"))
    return above.includes(element) ? null : readItem(element, url, [...above, element]);
  const name = element.localName;
  const address = ADDRESSES[name];
  if (address) return URL.parse(element.getAttribute(address) ?? "", url)?.href ?? "";
  if (name === "meta") return element.getAttribute("content") ?? "";
  if (name === "data" || name === "meter") return element.getAttribute("value") ?? "";
  if (name === "time" && element.hasAttribute("datetime")) return element.getAttribute("datetime");
  // The standard defines `content` only for `meta`, but web shops set it on any element.
  const content = element.getAttribute("content");
  return content ?? element.textContent?.replace(/\s+/g, " ").trim() ?? "";
}

const readWords = (element: Element, attribute: string): string[] =>
  element.getAttribute(attribute)?.split(/\s+/).filter(Boolean) ?? [];
