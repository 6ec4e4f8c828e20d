import type { Change } from "#lib/variant/document.ts";

/**
 * An operation of the matrix. `check` runs in the page. It returns true if the change is in place, once for each place,
 * and else a description of what the page shows instead.
 */
export type MatrixOperation = { name: string; change: Change; check: () => true | string };

/** Functions that the checks use. Every function that is called in a page finds them in its scope. */
export const CHECK_HELPERS = `
  const roots = () => {
    const found = [document];
    for (const root of found)
      for (const element of root.querySelectorAll("*")) if (element.shadowRoot) found.push(element.shadowRoot);
    return found;
  };
  const all = (selector) => roots().flatMap((root) => [...root.querySelectorAll(selector)]);
  const one = (selector) => {
    const found = all(selector);
    if (found.length !== 1) throw new Error(found.length + " elements match " + selector);
    return found[0];
  };
  const wordsOf = (text) => text.replace(/\\d/g, "#").split(" ").sort().join(" ");
  const same = (actual, expected) => actual === expected || "shows " + JSON.stringify(actual);
`;

declare global {
  function all(selector: string): HTMLElement[];
  function one(selector: string): HTMLElement;
  /** The words of a text in alphabetical order, with `#` for digits. */
  function wordsOf(text: string): string;
  function same(actual: unknown, expected: unknown): true | string;
}

const id = "c1";

/** The thirteen operations of the matrix, in the order of the table's columns. */
export const OPERATIONS: MatrixOperation[] = [
  {
    name: "text",
    change: { id, op: "setText", selector: "main h1", text: "Till" },
    check: () => same(one("main h1").textContent, "Till"),
  },
  {
    name: "html",
    change: { id, op: "setHtml", selector: ".summary", html: "<h3>Sum</h3><em>All</em>" },
    check: () => same(one(".summary").innerHTML.replace(/<!--.*?-->/g, ""), "<h3>Sum</h3><em>All</em>"),
  },
  {
    name: "attribute",
    change: { id, op: "setAttribute", selector: "#again", name: "title", value: "new" },
    check: () => same(one("#again").title, "new"),
  },
  {
    name: "class",
    change: { id, op: "addClass", selector: "main", className: "wide" },
    check: () => same(wordsOf(one("main").className), "shop shop-# wide"),
  },
  {
    name: "style",
    change: { id, op: "setStyle", selector: "#greeting", style: { color: "green" } },
    check: () => same(getComputedStyle(one("#greeting")).color, "rgb(0, 128, 0)"),
  },
  {
    name: "insert",
    change: { id, op: "insert", selector: "main h1", position: "after", html: "<p class='note'>Note</p>" },
    check: () => same(one(".note").previousElementSibling, one("main h1")),
  },
  {
    name: "move",
    change: { id, op: "move", selector: "#greeting", position: "end", target: ".actions" },
    check: () => same(one("#greeting").parentElement, one(".actions")),
  },
  {
    name: "remove",
    change: { id, op: "remove", selector: ".summary" },
    check: () => same(one(".summary").checkVisibility(), false),
  },
  {
    name: "list: insert",
    change: {
      id,
      op: "insert",
      selector: "#list li.item",
      position: "after",
      html: "<li class='extra'>+</li>",
    },
    check: () =>
      same(
        all("#list > li")
          .map(({ className }) => className)
          .join(" "),
        all("#list li.item")
          .map(() => "item extra")
          .join(" "),
      ),
  },
  {
    name: "list: move",
    change: { id, op: "move", selector: '#list [data-id="plum"]', position: "start", target: "#list" },
    check: () => same(one('#list [data-id="plum"]'), one("#list").firstElementChild),
  },
  {
    name: "late",
    change: { id, op: "setText", selector: ".late", text: "Soon" },
    check: () => same(one(".late").textContent, "Soon"),
  },
  {
    name: "text, rendered again",
    change: { id, op: "setText", selector: "#status", text: "Many" },
    check: () => same(one("#status").textContent, "Many"),
  },
  {
    name: "class, rendered again",
    change: { id, op: "addClass", selector: "#status", className: "hot" },
    check: () => same(wordsOf(one("#status").className), "hot status status-#"),
  },
];
