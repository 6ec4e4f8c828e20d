import type { Position, VariantDocument } from "../document.ts";

/** A node to build: a text, or an element with its attributes and children. `svg` and `math` elements carry a namespace. */
export type CompiledNode =
  | string
  | [tag: string, attributes: Record<string, string>, children: CompiledNode[], namespace?: "svg" | "math"];

/** The CSS selectors between ` >> `; a number takes one of the elements found, counted from 0. */
export type CompiledSelector = (string | number)[];

/** A compiled operation on an element. The ten operations of a document become seven. */
type CompiledOperation =
  | { op: "content"; nodes: CompiledNode[] }
  | { op: "attribute"; name: string; value: string | null }
  | { op: "class"; name: string; isOn: boolean }
  | { op: "style"; style: [name: string, value: string, priority: string][] }
  | { op: "insert"; position: Position; nodes: CompiledNode[] }
  | { op: "move"; position: Position; target: CompiledSelector }
  | { op: "remove" };

/** A change as the runtime receives it. Notes and changes that are off are left out. */
export type CompiledChange = CompiledOperation & {
  id: string;
  selector: CompiledSelector;
  /** Whether the selector depends on neighbours, so that an inserted node changes what it matches. */
  isPositional: boolean;
};

export type CompiledPage = {
  /** A regular expression for the whole address. */
  address: string;
  css: string;
  changes: CompiledChange[];
  /** All selectors joined into one; empty if there are none. */
  selector: string;
  /** Whether a selector depends on neighbours, so that any node that comes or goes can change what it matches. */
  isPositional: boolean;
  /** Attributes that decide what the selectors match. */
  deciding: string[];
  /** Attributes that the changes write. */
  written: string[];
  /** The page's script, wrapped in a function; it runs once in each document. */
  js?: () => void;
};

/** The argument of the runtime. */
export type CompiledVariant = { key: string; pages: CompiledPage[] };

/**
 * Progress of a change in the document. `waiting`: no element matches, or the element is not safe to touch yet.
 * `fight`: the page kept overwriting it, and the runtime stopped. `error`: the selector or the operation is invalid.
 */
type ChangeState = "waiting" | "applied" | "fight" | "error";

export type ChangeReport = {
  id: string;
  state: ChangeState;
  /** Elements that match now. */
  matches: number;
  /** Elements that carry the change now. */
  applied: number;
  /** How often the change was applied again after the page had overwritten it. */
  reapplied: number;
  /** Time of the first application in milliseconds since navigation start (`performance.now()`); null before. */
  appliedAtMs: number | null;
  error: string | null;
};

/** What the runtime did in the current document. */
export type RuntimeReport = {
  /** The address it matched, and how many page entries match it. */
  url: string;
  pages: number;
  /** Whether it still waits for hydration of a server-rendered root. */
  isHydrating: boolean;
  /** An error that the page's `js` threw. */
  scriptError: string | null;
  changes: ChangeReport[];
};

/** A running variant. The runtime registers it as `window.__agentSessionVariants[key]`. */
export type VariantHandle = {
  report: () => RuntimeReport;
  /** Reverts what the running revision does, and applies another one without a page load. */
  update: (variant: CompiledVariant) => void;
  /** Reverts every change and stops. The DOM then has the page's own state. */
  revert: () => void;
};

/** The compiler of documents, in `compile/`. */
export type CompileVariant = (document: VariantDocument, key: string) => string;
