import type { Slot } from "./edit-slot.ts";
import type { Guard } from "./guard-parent.ts";
import type { VariantHandle } from "./runtime-types.ts";
import type { Content } from "./set-content.ts";

/**
 * The state that the variants of a document share, so that two of them can change one element. Scripts of different
 * releases can run in one document, so the shape must stay compatible.
 */
type SharedState = {
  /** Nodes that a runtime built. `insert`, `setHtml` and `move` do not select them, or they would match their own nodes. */
  built: WeakSet<Node>;
  /** Nodes that a runtime inserted or moved. They do not count as neighbours. */
  placed: WeakSet<Node>;
  slots: WeakMap<Node, Map<string, Slot>>;
  contents: WeakMap<Element, Content>;
  guards: WeakMap<Node, Guard>;
  /** Called after changes that mutation observers do not report. */
  listeners: Set<() => void>;
};

type Registry = Record<string, VariantHandle> & { [STATE]?: SharedState };
declare global {
  interface Window {
    __agentSessionVariants?: Registry;
  }
}

const STATE = Symbol.for("agent-session-variants");

window.__agentSessionVariants ??= Object.create(null) as Registry;

/** The running variants of the document by their keys. */
export const registry = window.__agentSessionVariants;

const existing = registry[STATE];

/** The state that this variant shares with the others of the document. */
export const shared: SharedState = existing ?? {
  built: new WeakSet(),
  placed: new WeakSet(),
  slots: new WeakMap(),
  contents: new WeakMap(),
  guards: new WeakMap(),
  listeners: new Set(),
};
registry[STATE] = shared;

const notify = () => {
  for (const listener of shared.listeners) listener();
};

/** Calls `notify` after a method or setter of the browser. */
function hook(prototype: object, name: string): void {
  const property = Object.getOwnPropertyDescriptor(prototype, name);
  if (!property?.configurable) return;
  const key = property.set ? "set" : "value";
  const original = property[key];
  property[key] = function (...values: unknown[]) {
    const result: unknown = Reflect.apply(original, this, values);
    notify();
    return result;
  };
  Object.defineProperty(prototype, name, property);
}

/**
 * Reports changes that mutation observers do not: new shadow roots, replaced lists of style sheets, and new addresses.
 * Installed once in a document. Without listeners, the hooks only forward calls.
 */
if (!existing) {
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
