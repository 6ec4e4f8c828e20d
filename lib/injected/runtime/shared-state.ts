import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import type { Effect } from "./effect.ts";
import type { CompiledNode, Position, VariantHandle } from "./runtime-types.ts";

/** The state of an element whose content is replaced by changes. If there are several edits, the last one is shown. */
export type Content = {
  edits: CompiledNode[][];
  shown: CompiledNode[] | undefined;
  /** The nodes that show the edit: new nodes, or a text of the page. */
  built: PageNode[];
  /**
   * Contains the page's own nodes while other content is shown. A framework can still work on these nodes: it changes
   * their texts directly, and a guard redirects its insertions and removals to this fragment.
   */
  stash: DocumentFragment;
  /**
   * The page's own texts while they and the page's comments stay in the element. Frameworks find texts by their
   * comments. A text shows the edit or nothing. The values are what the page and the runtime last wrote.
   */
  texts: Map<Text, { own: string; shown: string }>;
  /** The effects that move elements away from between such texts. */
  moves: Effect[];
};

/** The state of a moved element. If several changes move it, it is at the last of the places. */
export type Moved = {
  /** A comment that stays at the original position. */
  placeholder: Comment;
  /**
   * An empty text after the element, if its new position has the same parent. A framework that inserts a node before the
   * element's next sibling means the original position. Without this text, the next sibling could be another child.
   */
  follower: Text;
  home: PageNode | undefined;
  newParent: PageNode | null | undefined;
  places: { target: PageElement | DocumentFragment; position: Position }[];
};

/** What an element that has left the document had before a change, and its look with the change. */
export type LostOriginal = { look: string; original: unknown; lostMs: number };

/**
 * Lets a framework keep working on a parent whose children the runtime has moved elsewhere. The framework calls
 * `parent.removeChild(child)` and `parent.insertBefore(node, child)` with children that it has rendered. These calls
 * would throw, because the children are no longer in the parent. The guard overrides these methods on the parent, and
 * redirects the calls to where the children are.
 */
export type Guard = {
  /**
   * Where the page's own children are: in the parent, or in a fragment while a change replaces the parent's content.
   */
  target: PageNode;
  /** For each child that was moved elsewhere, the placeholder that marks its original position. */
  placeholders: Map<PageNode, PageNode>;
};

/** The state of an attribute that is edited by one or more changes. */
export type Slot = {
  /** The last value that the page set. */
  original: string | null;
  /** The value that the attribute had after the runtime last wrote or read it. */
  shown: string | null;
  edits: Edit[];
};

/**
 * An edit of an attribute's value. `isPart` is true if the edit changes only a part of the value, such as one class.
 */
export type Edit = { isPart: boolean; change: (value: string | null) => string | null };

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
