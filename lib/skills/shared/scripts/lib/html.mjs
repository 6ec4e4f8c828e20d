// A small HTML reader without dependencies, for pages that a browser has serialised. It never throws. It does not validate:
// it interprets broken markup in the most likely way.

/**
 * @typedef {{ tag: string, attributes: Map<string, string>, children: (Element | string)[], parent: Element | null, depth: number }} Element
 */

const VOID = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
const RAW = new Set(["script", "style", "textarea", "title", "noscript", "iframe", "xmp"]);
/**
 * Elements that end at the next start tag of the same kind. `dt` and `dd` are one kind, and so are `td` and `th`. Each
 * value lists the ancestors at which the search for an open element of that kind stops.
 * @type {Record<string, string[]>}
 */
const CLOSED_BY_NEXT = {
  li: ["ul", "ol", "menu"],
  dt: ["dl"],
  dd: ["dl"],
  option: ["select", "datalist", "optgroup"],
  tr: ["table", "tbody", "thead", "tfoot"],
  td: ["tr", "table"],
  th: ["tr", "table"],
};
/** Elements whose start tag closes an open paragraph. */
const ENDS_PARAGRAPH = new Set(
  "address article aside blockquote div dl fieldset footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul".split(
    " ",
  ),
);
/** Elements at which the search for an open paragraph stops. */
const HOLDS_PARAGRAPHS = new Set(
  "article aside body button div fieldset footer form header label li main nav section td th".split(" "),
);
/** @type {Record<string, string>} */
const ENTITIES = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rsquo: "’",
  lsquo: "‘",
  rdquo: "”",
  ldquo: "“",
  middot: "·",
  times: "×",
  laquo: "«",
  raquo: "»",
};

/** @param {string} text */
const decode = (text) =>
  text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (all, decimal, hex, name) => {
    if (name) return ENTITIES[name] ?? all;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });

/** Maximum depth of the tree. Deeper elements become siblings, as in browsers. */
const DEPTH_MAX = 512;
const TAG = /<(\/?)([a-zA-Z][^\s/>]*)/y;
/** A part of a tag that follows the tag's name. A quote begins a quoted value only after "=" and optional blanks. */
const PIECE = /[^>"'=]+|=\s*(?:"[^"]*"|'[^']*')|[="']/y;
const ATTRIBUTE = /([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>`]+)))?/g;

/** Parses a document. @param {string} html @returns {Element} an element "#root" with the content of the document */
export function parseHtml(html) {
  /** @type {Element} */
  const root = { tag: "#root", attributes: new Map(), children: [], parent: null, depth: 0 };
  let current = root;
  let at = 0;
  /** @param {string} text */
  const addText = (text) => {
    if (text !== "") current.children.push(decode(text));
  };
  while (at < html.length) {
    const next = html.indexOf("<", at);
    if (next < 0) {
      addText(html.slice(at));
      break;
    }
    addText(html.slice(at, next));
    if (html.startsWith("<!--", next)) {
      const end = html.indexOf("-->", next + 4);
      at = end < 0 ? html.length : end + 3;
      continue;
    }
    if (html[next + 1] === "!" || html[next + 1] === "?") {
      const end = html.indexOf(">", next);
      at = end < 0 ? html.length : end + 1;
      continue;
    }
    TAG.lastIndex = next;
    const match = TAG.exec(html);
    if (!match) {
      addText("<");
      at = next + 1;
      continue;
    }
    const end = findTagEnd(html, TAG.lastIndex);
    const rest = html.slice(TAG.lastIndex, end);
    at = end + 1;
    // A tag without a closing ">" is dropped together with the text that follows it, as in browsers.
    if (end === html.length) continue;
    const tag = (match[2] ?? "").toLowerCase();
    if (match[1] === "/") {
      current = closeTag(current, tag);
      continue;
    }
    current = closeImplied(current, tag);
    /** @type {Element} */
    const element = {
      tag,
      attributes: readAttributes(rest),
      children: [],
      parent: current,
      depth: current.depth + 1,
    };
    current.children.push(element);
    if (VOID.has(tag) || rest.endsWith("/") || element.depth >= DEPTH_MAX) continue;
    if (RAW.has(tag)) {
      const close = html.slice(at).search(new RegExp(`</${tag}[\\s/>]`, "i"));
      const ending = close < 0 ? html.length : at + close;
      element.children.push(decode(html.slice(at, ending)));
      const after = html.indexOf(">", ending);
      at = after < 0 ? html.length : after + 1;
      continue;
    }
    current = element;
  }
  return root;
}

/**
 * Finds the ">" that ends a tag, or the end of the text. `from` is the end of the tag's name.
 * @param {string} html @param {number} from
 */
function findTagEnd(html, from) {
  PIECE.lastIndex = from;
  let end = from;
  while (end < html.length && html[end] !== ">" && PIECE.test(html)) end = PIECE.lastIndex;
  return end;
}

/** @param {string} text */
function readAttributes(text) {
  /** @type {Map<string, string>} */
  const attributes = new Map();
  for (const [, name = "", double, single, bare] of text.matchAll(ATTRIBUTE))
    if (!attributes.has(name.toLowerCase()))
      attributes.set(name.toLowerCase(), decode(double ?? single ?? bare ?? ""));
  return attributes;
}

/** @param {Element} current @param {string} tag @returns {Element} */
function closeTag(current, tag) {
  for (let open = /** @type {Element | null} */ (current); open; open = open.parent)
    if (open.tag === tag) return open.parent ?? open;
  return current;
}

/** @param {Element} current @param {string} tag @returns {Element} */
function closeImplied(current, tag) {
  if (ENDS_PARAGRAPH.has(tag)) return closeOpen(current, ["p"], HOLDS_PARAGRAPHS);
  const limits = CLOSED_BY_NEXT[tag];
  if (!limits) return current;
  const family =
    tag === "dt" || tag === "dd" ? ["dt", "dd"] : tag === "td" || tag === "th" ? ["td", "th"] : [tag];
  return closeOpen(current, family, new Set(limits));
}

/** @param {Element} current @param {string[]} tags @param {Set<string>} limits @returns {Element} */
function closeOpen(current, tags, limits) {
  for (let open = /** @type {Element | null} */ (current); open; open = open.parent) {
    if (tags.includes(open.tag)) return open.parent ?? open;
    if (limits.has(open.tag)) return current;
  }
  return current;
}

/** All descendants of an element, in document order. @param {Element} root @returns {Generator<Element>} */
export function* elementsOf(root) {
  const stack = [...root.children].reverse();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === "string") continue;
    yield node;
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index];
      if (child !== undefined) stack.push(child);
    }
  }
}

/** @param {Element} root @param {(element: Element) => boolean} test @returns {Element[]} */
export const findAll = (root, test) => [...elementsOf(root)].filter(test);

/** @param {Element} element @param {string} name @returns {string | undefined} */
export const attribute = (element, name) => element.attributes.get(name);

/** The nearest ancestor that passes a test. @param {Element} element @param {(element: Element) => boolean} test */
export function closest(element, test) {
  for (let above = element.parent; above; above = above.parent) if (test(above)) return above;
  return undefined;
}

/** @param {Element} element */
const hidesItself = (element) =>
  ["script", "style", "template", "noscript", "head"].includes(element.tag) ||
  element.attributes.has("hidden") ||
  attribute(element, "aria-hidden") === "true" ||
  (element.tag === "input" && attribute(element, "type")?.toLowerCase() === "hidden") ||
  /display:\s*none|visibility:\s*hidden/i.test(attribute(element, "style") ?? "");

/**
 * Whether the markup hides an element or an element around it. An element that is hidden only from screen readers
 * counts as hidden, too.
 * @param {Element} element
 */
export const isHidden = (element) => hidesItself(element) || closest(element, hidesItself) !== undefined;

const BLOCK = new Set(
  "address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol option p pre section table td th tr ul button label".split(
    " ",
  ),
);

/**
 * The visible text of an element, with whitespace collapsed. With `alternatives`, the text includes alt texts, and the
 * aria-labels of the elements inside it.
 * @param {Element} element @param {{ alternatives?: boolean }} [options]
 */
export function textOf(element, { alternatives = false } = {}) {
  /** @type {string[]} */
  const parts = [];
  /** @type {(Element | string)[]} */
  const stack = [element];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === "string") {
      parts.push(node);
      continue;
    }
    if (node !== element && hidesItself(node)) continue;
    if (alternatives && node.tag === "img") parts.push(` ${attribute(node, "alt") ?? ""} `);
    if (alternatives && node !== element) parts.push(` ${attribute(node, "aria-label") ?? ""} `);
    if (BLOCK.has(node.tag)) stack.push("\n");
    for (const child of node.children.toReversed()) stack.push(child);
    if (BLOCK.has(node.tag)) stack.push("\n");
  }
  return parts.join("").replace(/\s+/g, " ").trim();
}

/**
 * Caches the selector step of each element, so that the siblings in a long list are counted only once.
 * @type {WeakMap<Element, string>}
 */
const steps = new WeakMap();

/** The selector step from an element's parent to the element. @param {Element} element */
function stepTo(element) {
  const cached = steps.get(element);
  if (cached !== undefined) return cached;
  /** @type {Map<string, Element[]>} */
  const byTag = new Map();
  for (const child of element.parent?.children ?? [])
    if (typeof child !== "string") addTo(byTag, child.tag, child);
  for (const [tag, same] of byTag)
    for (const [index, each] of same.entries())
      steps.set(each, same.length > 1 ? `${tag}:nth-of-type(${index + 1})` : tag);
  return steps.get(element) ?? element.tag;
}

/**
 * Adds an item to the list of a key.
 * @template Key, Item @param {Map<Key, Item[]>} lists @param {Key} key @param {Item} item
 */
export function addTo(lists, key, item) {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** A CSS selector for an element. @param {Element} element */
export function selectorOf(element) {
  /** @type {string[]} */
  const parts = [];
  for (let each = /** @type {Element | null} */ (element); each && each.tag !== "#root"; each = each.parent) {
    const id = attribute(each, "id");
    if (id !== undefined && /^[a-zA-Z][\w-]*$/.test(id)) {
      parts.unshift(`#${id}`);
      break;
    }
    if (each.tag === "html" || each.tag === "body") {
      parts.unshift(each.tag);
      break;
    }
    parts.unshift(stepTo(each));
  }
  return parts.join(" > ");
}

/**
 * The name that a screen reader reads for an element. The first of these that is not empty is used: aria-labelledby,
 * aria-label, labels, value of a button, alt, content, title.
 * @param {Element} element @param {ReturnType<typeof indexOf>} index
 * @returns {{ name: string, from: "aria-labelledby" | "aria-label" | "label" | "content" | "value" | "alt" | "title" | "nothing" }}
 */
export function nameOf(element, index) {
  const referenced = (attribute(element, "aria-labelledby") ?? "")
    .split(/\s+/)
    .map((id) => index.byId.get(id))
    .flatMap((each) => (each ? [textOf(each, { alternatives: true })] : []))
    .join(" ")
    .trim();
  if (referenced !== "") return { name: referenced, from: "aria-labelledby" };
  const label = (attribute(element, "aria-label") ?? "").trim();
  if (label !== "") return { name: label, from: "aria-label" };
  const labels = (index.labels.get(element) ?? [])
    .map((each) => textOf(each))
    .join(" ")
    .trim();
  if (labels !== "") return { name: labels, from: "label" };
  const type = (attribute(element, "type") ?? "").toLowerCase();
  if (element.tag === "input" && ["submit", "reset", "button"].includes(type)) {
    const value = attribute(element, "value") ?? (type === "button" ? "" : type);
    if (value.trim() !== "") return { name: value.trim(), from: "value" };
  }
  const alt = (attribute(element, "alt") ?? "").trim();
  if ((element.tag === "img" || type === "image") && alt !== "") return { name: alt, from: "alt" };
  if (!["input", "select", "textarea", "img"].includes(element.tag)) {
    const content = textOf(element, { alternatives: true });
    if (content !== "") return { name: content, from: "content" };
    const title = findAll(element, (each) => each.tag === "title")
      .map((each) => textOf(each))
      .join(" ")
      .trim();
    if (title !== "") return { name: title, from: "content" };
  }
  const title = (attribute(element, "title") ?? "").trim();
  return title !== "" ? { name: title, from: "title" } : { name: "", from: "nothing" };
}

/** Creates the indexes that several checks use: elements by id, and the labels of fields. @param {Element} root */
export function indexOf(root) {
  /** @type {Map<string, Element>} */
  const byId = new Map();
  /** @type {Map<string, Element[]>} */
  const sameId = new Map();
  /** @type {Map<Element, Element[]>} */
  const labels = new Map();
  const all = [...elementsOf(root)];
  for (const element of all) {
    const id = attribute(element, "id");
    if (id === undefined || id === "") continue;
    addTo(sameId, id, element);
    if (!byId.has(id)) byId.set(id, element);
  }
  for (const label of all.filter(({ tag }) => tag === "label")) {
    const target = attribute(label, "for");
    const field =
      target !== undefined
        ? byId.get(target)
        : findAll(label, ({ tag }) => ["input", "select", "textarea"].includes(tag))[0];
    if (field) addTo(labels, field, label);
  }
  return { all, byId, sameId, labels };
}
