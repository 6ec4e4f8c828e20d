import type { Change, Position } from "../../document.ts";

/** An insertion as the script has it. */
export type ScriptInsert = { selector: string; position: Position; html: string };

/**
 * GrowthBook's SDK appends the script to the head each time it applies the variation, and removes the element when the
 * variation ends. The script inserts each HTML once for each element, again if the page drops it (20 times at most),
 * and removes it when the element of the script has gone.
 */
const BEGIN = `((inserts) => {
  const script = document.currentScript ?? { isConnected: true };
  const running = (window.__agentSessionInserts ??= new Map());
  const key = JSON.stringify(inserts);
  if (running.has(key)) return running.get(key)(script);
  const own = new WeakSet();
  const placed = inserts.map(() => new Map());
  let current = script;
  // A form field named like a member of its form would hide that member.
  const { insertBefore, removeChild } = Node.prototype;
  const getter = (name) => {
    const { get } = Object.getOwnPropertyDescriptor(Node.prototype, name);
    return (node) => get.call(node);
  };
  const [parentOf, firstOf, nextOf, isConnected] = ["parentNode", "firstChild", "nextSibling", "isConnected"].map(getter);
  const isOwn = (node) => node !== null && (own.has(node) || isOwn(parentOf(node)));
  const build = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    return [...document.importNode(template.content, true).childNodes];
  };
  const place = (nodes, element, position) => {
    const isInside = position === "start" || position === "end";
    const parent = isInside ? element : parentOf(element);
    if (!parent || parent === document) return;
    let next = { before: element, start: firstOf(element), end: null, after: nextOf(element) }[position];
    if (position === "start" || position === "after") while (next && own.has(next)) next = nextOf(next);
    for (const node of nodes) {
      own.add(node);
      insertBefore.call(parent, node, next);
    }
  };
  const remove = ({ nodes }) =>
    nodes.forEach((node) => parentOf(node) && removeChild.call(parentOf(node), node));
  const apply = () =>
    inserts.forEach(({ selector, position, html }, index) => {
      const known = placed[index];
      for (const [element, made] of known) if (!isConnected(element)) remove(made);
      for (const element of document.querySelectorAll(selector)) {
        const made = known.get(element) ?? { nodes: [], count: 0 };
        const parent = position === "start" || position === "end" ? element : parentOf(element);
        const isThere = made.nodes.length > 0 && made.nodes.every((node) => parentOf(node) === parent);
        if (isThere || made.count > 20 || isOwn(element)) continue;
        remove(made);
        known.set(element, { nodes: build(html), count: made.count + 1 });
        place(known.get(element).nodes, element, position);
      }
    });
  const update = () => {
    if (current.isConnected) apply();
    else {
      observer.disconnect();
      running.delete(key);
      for (const known of placed) for (const made of known.values()) remove(made);
    }
    observer.takeRecords();
  };
  const observer = new MutationObserver(update);
  running.set(key, (next) => {
    current = next;
    update();
  });
  observer.observe(document, { childList: true, subtree: true });
  update();
})(`;
const END = ");\n";

/** Writes the script that makes insertions; an empty text if there are none. */
export function writeInserts(inserts: readonly ScriptInsert[]): string {
  // `<` is escaped, because GrowthBook's SDK for servers puts the script into HTML.
  return inserts.length === 0 ? "" : `${BEGIN}${JSON.stringify(inserts).replaceAll("<", "\\u003c")}${END}`;
}

/** The insertions in a script of an export, and the rest of the script. Any other script has no insertions. */
export function readInserts(js: string): { inserts: unknown[]; rest: string } {
  if (!js.startsWith(BEGIN)) return { inserts: [], rest: js };
  // JSON has no line break, so the first one ends it.
  const end = js.indexOf(END, BEGIN.length);
  try {
    const inserts: unknown = JSON.parse(js.slice(BEGIN.length, end));
    return Array.isArray(inserts) ? { inserts, rest: js.slice(end + END.length) } : { inserts: [], rest: js };
  } catch {
    return { inserts: [], rest: js };
  }
}

/** Converts an insertion of an imported script to a change, whose fields are checked with the whole document. */
export const toInsertChange = (insert: unknown, readSelector: (text: string) => string) => {
  const { selector, position, html } = Object(insert) as Partial<Record<keyof ScriptInsert, unknown>>;
  const change = { op: "insert", selector: readSelector(String(selector)), position, html };
  return change as Omit<Extract<Change, { op: "insert" }>, "id">;
};
