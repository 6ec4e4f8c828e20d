import { toAddressPattern } from "#lib/injected/runtime/match-address.ts";
import type {
  CompiledChange,
  CompiledNode,
  CompiledPage,
  CompiledSelector,
} from "#lib/injected/runtime/runtime-types.ts";
import type { Change, VariantPage } from "../document.ts";
import { compileHtml } from "./compile-html.ts";

/** Matches selectors that depend on an element's neighbours, content or state. */
const POSITIONAL = /[+~:]|nth=/;

/** Attributes on which pseudo-classes such as `:disabled` and `:link` depend. */
const STATES = [
  ..."checked contenteditable dir disabled hidden href lang multiple".split(" "),
  ..."open placeholder readonly required selected type value".split(" "),
];

/** Splits a selector at ` >> `. A part `nth=<number>` becomes a number. */
const splitSelector = (selector: string): CompiledSelector =>
  selector.split(/\s*>>\s*/).map((part) => {
    const nth = /^nth=(\d+)$/.exec(part)?.[1];
    return nth === undefined ? part : Number(nth);
  });

/**
 * Compiles the HTML of a change.
 *
 * @throws Error if the HTML is invalid. `checkDocumentContent` reports such HTML earlier.
 */
function compileNodes(id: string, html: string): CompiledNode[] {
  const compiled = compileHtml(html);
  if ("problem" in compiled) throw new Error(`${id}: ${compiled.problem}`);
  return compiled.nodes;
}

function compileStyle(style: Record<string, string>): [string, string, string][] {
  return Object.entries(style).map(([name, text]) => {
    const value = text.replace(/\s*!\s*important\s*$/i, "");
    return [name, value, value === text ? "" : "important"];
  });
}

function compileChange(change: Change): CompiledChange {
  const { id, selector } = change;
  const common = { id, selector: splitSelector(selector), isPositional: POSITIONAL.test(selector) };
  switch (change.op) {
    case "setText":
      return { ...common, op: "content", nodes: [change.text] };
    case "setHtml": {
      const nodes = compileNodes(id, change.html);
      return { ...common, op: "content", nodes: nodes.length === 0 ? [""] : nodes };
    }
    case "setAttribute":
      return { ...common, op: "attribute", name: change.name, value: change.value };
    case "removeAttribute":
      return { ...common, op: "attribute", name: change.name, value: null };
    case "addClass":
    case "removeClass":
      return { ...common, op: "class", name: change.className, isOn: change.op === "addClass" };
    case "setStyle":
      return { ...common, op: "style", style: compileStyle(change.style) };
    case "insert":
      return { ...common, op: "insert", position: change.position, nodes: compileNodes(id, change.html) };
    case "move":
      return { ...common, op: "move", position: change.position, target: splitSelector(change.target) };
    case "remove":
      return { ...common, op: "remove" };
  }
}

/** Lists the attributes that a change writes. */
function listWritten(change: CompiledChange): string[] {
  if (change.op === "attribute") return [change.name, change.name.toLowerCase()];
  if (change.op === "class" || change.op === "style") return [change.op];
  return change.op === "remove" ? ["style", "disabled"] : [];
}

/**
 * Lists the attributes that decide which elements match the selectors. The list may contain more attributes than
 * necessary.
 */
function listDeciding(selectors: string): string[] {
  const named = [...selectors.matchAll(/\[\s*(?:[\w*]*\|)?([\w-]+)/g)].map(([, name = ""]) => name);
  return [
    ...named,
    ...(selectors.includes(".") ? ["class"] : []),
    ...(selectors.includes("#") ? ["id"] : []),
    ...(selectors.includes(":") ? STATES : []),
  ];
}

/**
 * Compiles an entry of a document's `pages`, without its script.
 *
 * @throws Error if its HTML is invalid.
 */
export function compilePage(page: VariantPage): Omit<CompiledPage, "js"> {
  const changes = page.changes.filter(({ off }) => off !== true).map(compileChange);
  const selectors = changes
    .flatMap((change) => [...change.selector, ...(change.op === "move" ? change.target : [])])
    .filter((part) => typeof part === "string");
  return {
    address: toAddressPattern(page),
    css: page.css,
    when: page.when,
    changes,
    // `:is()` ignores selectors that the browser does not support. Without it, one such selector would make the whole
    // list invalid.
    selector: selectors.length === 0 ? "" : `:is(${[...new Set(selectors)].join(",")})`,
    isPositional: POSITIONAL.test(selectors.join(" ")),
    deciding: [...new Set(listDeciding(selectors.join(",")))],
    written: [...new Set(changes.flatMap(listWritten))],
  };
}
