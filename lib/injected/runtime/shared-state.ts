import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import type { Slot } from "./edit-slot.ts";
import type { Guard } from "./guard-parent.ts";
import type { LostOriginal } from "./lost-originals.ts";
import type { Moved } from "./place-nodes.ts";
import type { VariantHandle } from "./runtime-types.ts";
import type { Content } from "./set-content.ts";

/**
 * State that all variants in a document share, so that two variants can change the same element. Their scripts may come
 * from different releases, so the shape of this state must stay compatible.
 */
type SharedState = {
  /**
   * Nodes that a runtime has built. The selectors of moves and of changes that build elements do not match these nodes.
   * Otherwise such a change could match its own nodes.
   */
  built: WeakSet<PageNode>;
  /** Nodes that a runtime has inserted or moved. They are not part of the page's own content. */
  placed: WeakSet<PageNode>;
  /** The HTML or text of each node that a change has inserted. Restored copies of the nodes are recognized by it. */
  sources: Set<string | null>;
  /** Nodes that a change has made, changed or moved. */
  changed: WeakSet<PageNode>;
  /** The nodes that the page has cloned from changed nodes, each with its source. */
  copies: Map<PageNode, PageNode>;
  /** What elements that have left the document had before they were changed, by their look with the change. */
  lost: LostOriginal[];
  moved: WeakMap<PageElement, Moved>;
  slots: WeakMap<PageNode, Map<string, Slot>>;
  contents: WeakMap<PageElement, Content>;
  guards: WeakMap<PageNode, Guard>;
  /** Functions that are called after changes of the page that mutation observers do not report. */
  listeners: Set<() => void>;
};

type Registry = Record<string, VariantHandle> & { [STATE]?: SharedState };
declare global {
  interface Window {
    __agentSessionVariants?: Registry;
  }
}

// Changes with the shape of the state, because scripts of older releases may run in the same document.
const STATE = Symbol.for("__agentSessionVariants/4");

const NAME = "__agentSessionVariants";
// The id of an element can be the name of a global variable, but such a variable is not a property of the window itself.
if (!Reflect.getOwnPropertyDescriptor(window, NAME))
  window[NAME] = { __proto__: null } as unknown as Registry;

/** The running variants of the document by their keys. */
export const registry = window[NAME] as Registry;

const existing = registry[STATE];
/** Whether this variant is the first in the document. The first one installs the hooks for all. */
export const isFirst = !existing;

/** The shared state. The first variant in the document creates it. */
export const shared: SharedState = existing ?? {
  built: new WeakSet(),
  placed: new WeakSet(),
  sources: new Set(),
  changed: new WeakSet(),
  copies: new Map(),
  lost: [],
  moved: new WeakMap(),
  slots: new WeakMap(),
  contents: new WeakMap(),
  guards: new WeakMap(),
  listeners: new Set(),
};
registry[STATE] = shared;

const notify = () => {
  for (const listener of shared.listeners) listener();
};

/** Replaces a method or setter of the browser with a version that also calls `react`. */
export function hook(
  prototype: object,
  name: string,
  react: (result: unknown, target: unknown, values: unknown[]) => void = notify,
): void {
  const property = Reflect.getOwnPropertyDescriptor(prototype, name);
  if (!property?.configurable) return;
  const key = property.set ? "set" : "value";
  const original = property[key];
  property[key] = function (this: unknown, ...values: unknown[]) {
    const result: unknown = Reflect.apply(original, this, values);
    react(result, this, values);
    return result;
  };
  Reflect.defineProperty(prototype, name, property);
}

/**
 * Notifies the listeners of changes that mutation observers do not report: new shadow roots, a new value of the
 * document's `adoptedStyleSheets`, and new addresses. The hooks are installed once per document, and have no effect
 * while there are no listeners.
 */
if (isFirst) {
  hook(Element.prototype, "attachShadow");
  hook(Document.prototype, "adoptedStyleSheets");
  const navigation: unknown = Reflect.get(window, "navigation");
  if (navigation instanceof EventTarget) navigation.addEventListener("currententrychange", notify);
  else {
    hook(History.prototype, "pushState");
    hook(History.prototype, "replaceState");
    addEventListener("popstate", notify);
    addEventListener("hashchange", notify);
  }
}
