/** Where an element is placed, relative to a target element. `start` and `end` are inside the target element. */
export type Position = "before" | "start" | "end" | "after";

/**
 * A node to build: a text, or an element with its attributes and children. Elements of SVG and MathML have a namespace.
 */
export type CompiledNode =
  | string
  | [tag: string, attributes: Record<string, string>, children: CompiledNode[], namespace?: "svg" | "math"];

/**
 * A selector, split at ` >> `. A string is a CSS selector. A number selects one of the elements that the parts before
 * it have found, counted from 0.
 */
export type CompiledSelector = (string | number)[];

/** A compiled operation. The ten operations of a document are compiled to these seven. */
type CompiledOperation =
  | { op: "content"; nodes: CompiledNode[] }
  | { op: "attribute"; name: string; value: string | null }
  | { op: "class"; name: string; isOn: boolean }
  | { op: "style"; style: [name: string, value: string, priority: string][] }
  | { op: "insert"; position: Position; nodes: CompiledNode[] }
  | { op: "move"; position: Position; target: CompiledSelector }
  | { op: "remove" };

/** A change as the runtime receives it, without its note. Changes that are off are not compiled. */
export type CompiledChange = CompiledOperation & {
  id: string;
  selector: CompiledSelector;
  /**
   * Whether the result of the selector may depend on other nodes or on states such as `:checked`. An inserted node can
   * then change the result.
   */
  isPositional: boolean;
};

export type CompiledPage = {
  /** The source of a regular expression that matches the addresses of this page. */
  address: string;
  css: string;
  when?: string | undefined;
  changes: CompiledChange[];
  /** The CSS selectors of all changes as one selector list; empty if there are none. */
  selector: string;
  /**
   * Whether the result of at least one selector of the page may depend on other nodes or on states such as `:checked`.
   * Each inserted or removed node can then change the result.
   */
  isPositional: boolean;
  /** Attributes that decide which elements the selectors match. */
  deciding: string[];
  /** Attributes that the changes write. */
  written: string[];
  /**
   * The page's script, wrapped in a function; it runs once in each document. If it returns a function, this function is
   * called when the page stops, and the script runs again when the page starts again.
   */
  js?: () => unknown;
};

/** A compiled variant. It is the input of the runtime. */
export type CompiledVariant = { key: string; pages: CompiledPage[] };

/**
 * State of a change in the document. `waiting`: no element matches, a move has no target, or the element must not be
 * changed yet. `fight`: the page kept undoing the change, so the runtime no longer applies it. `error`: the selector or
 * the operation is invalid.
 */
type ChangeState = "waiting" | "applied" | "fight" | "error";

export type ChangeReport = {
  id: string;
  state: ChangeState;
  /** Number of elements that match now. */
  matches: number;
  /** Number of elements on which the change is in place now. */
  applied: number;
  /** How many times the change was applied again after the page had undone it. */
  reapplied: number;
  /** Time at which the change was first applied, in milliseconds since navigation start. Null until then. */
  appliedAtMs: number | null;
  error: string | null;
};

/** The state of a variant in the current document. */
export type RuntimeReport = {
  /** The current address. `pages` is the number of the variant's pages that match it. */
  url: string;
  pages: number;
  /** Whether a change waits for an element that is being hydrated or is still loading. */
  isHydrating: boolean;
  /** The first error that the `js` of one of the variant's pages threw; null if there was none. */
  scriptError: string | null;
  changes: ChangeReport[];
};

/** A running variant. The runtime registers it as `window.__agentSessionVariants[key]`. */
export type VariantHandle = {
  report: () => RuntimeReport;
  /** Reverts the current revision, and applies another revision without a page load. */
  update: (variant: CompiledVariant) => void;
  /** Reverts all changes, restores the page's own state, and stops the variant. */
  revert: () => void;
};
