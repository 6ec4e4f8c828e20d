/** The properties of a fiber, which React has had since version 17. Version 16 has other flags and hydrates at once. */
type Fiber = {
  return: Fiber | null;
  flags: number;
  stateNode?: { current?: Fiber } | null;
  memoizedState?: { isDehydrated?: boolean } | null;
};

/** The flag that a fiber carries from the start of its hydration to the commit. */
const REACT_HYDRATING = 4096;

/** Roots of frameworks that always hydrate. */
const STRONG_ROOTS =
  "#__next,#__nuxt,#___gatsby,[data-server-rendered],[data-reactroot],[data-hk],astro-island[ssr]";
/** Ids that frameworks and plain pages use. They count until the page's scripts have run. */
const WEAK_ROOTS = "#root,#app";
/** Content of a Suspense boundary that has been streamed, but not yet put in its place. */
const STREAMED = '[hidden][id^="S:"]';
/** Comments that server renderers leave: React's boundaries and text borders, blocks of Vue and Svelte. */
const MARKER = /^(\$[?!~]?|&| |\[.{0,3})$/;
const REACT_KEY = /^__react(Fiber|Container)\$/;
/** `NodeFilter.SHOW_COMMENT` */
const SHOW_COMMENT = 128;
/** Elements of documents that Next's App Router and React Router hydrate as a whole. */
const DOCUMENT_SCRIPTS = 'script[src*="/_next/static/"],link[href*="entry.client"]';

/** Whether React is hydrating the part of the page to which this fiber belongs. */
function isFiberHydrating(fiber: Fiber): boolean {
  for (let each: Fiber | null = fiber; each; each = each.return)
    if (each.flags & REACT_HYDRATING) return true;
  return false;
}

/** The start of a Suspense boundary around a node that React does not know. */
function findBoundary(node: Node): Node | null {
  let depth = 0;
  for (let each = node.previousSibling; each; each = each.previousSibling) {
    if (!(each instanceof Comment)) continue;
    if (each.data === "/$" || each.data === "/&") depth++;
    else if (/^[$&]/.test(each.data) && depth-- === 0) return each;
  }
  return null;
}

function findReactBlocker(node: Node, child: Node, fiber: Fiber): Node | null {
  if (isFiberHydrating(fiber)) return document;
  if (node === child) return null;
  // React does not know the child: it is not hydrated yet, or something else has put it there.
  const isDehydrated = fiber.stateNode?.current?.memoizedState?.isDehydrated;
  return isDehydrated ? node : findBoundary(child);
}

/** The name of the property in which React stores the fiber of a node, or the root fiber of a container. */
const findReactKey = (node: Node) => Object.keys(node).find((each) => REACT_KEY.test(each));

const isMarker = (node: Node) =>
  node instanceof Comment &&
  MARKER.test(node.data) &&
  // Svelte defines this property when it mounts or hydrates its first component, which it does without a pause.
  !(node.data[0] === "[" && Object.hasOwn(Element.prototype, "__e"));

/** Signs of server rendering in the document, read once per round of work. */
type Hints = {
  /** The children of the body in which a server renderer has left comments; the body itself for its direct comments. */
  parts: Set<Node>;
  isDocumentHydrated: boolean;
  hasRunningScripts: boolean;
};
let hints: Hints | undefined;

const has = (selector: string) => document.querySelector(selector) !== null;

function readHints(): Hints {
  const parts = new Set<Node>();
  const comments = document.createTreeWalker(document, SHOW_COMMENT);
  while (comments.nextNode()) {
    const { currentNode } = comments;
    const parent = currentNode.parentElement;
    if (parent && isMarker(currentNode) && !findReactKey(parent))
      parts.add(parent.closest("body > *") ?? parent);
  }
  return {
    parts,
    isDocumentHydrated: has(DOCUMENT_SCRIPTS) && !has("#__next"),
    hasRunningScripts: document.readyState !== "complete" && has("script[src],[type=module]"),
  };
}

/** The root that a framework is expected to hydrate, for an element that no framework has claimed yet. */
function findExpectedRoot(element: Element): Node | null {
  hints ??= readHints();
  const { parts, isDocumentHydrated, hasRunningScripts } = hints;
  const part = [document.body, element.closest("body > *")].find((each) => each && parts.has(each));
  return (
    element.closest(STRONG_ROOTS) ??
    part ??
    (isDocumentHydrated ? document : hasRunningScripts ? element.closest(WEAK_ROOTS) : null)
  );
}

/** The property of a container in which Vue 3 stores an app whose root is a Suspense boundary, as in Nuxt. */
type VueContainer = {
  _vnode?: { component?: { subTree?: { suspense?: { isHydrating?: boolean } | null } } };
};

/** Whether Vue still waits for asynchronous components, which it hydrates later. The cast adds Vue's own property. */
const isSuspenseHydrating = (node: Node) =>
  (node as VueContainer)._vnode?.component?.subTree?.suspense?.isHydrating;

/** The node of a root or boundary that has to be hydrated before the element may be changed. */
function findBlocker(element: Element): Node | null {
  const streamed = element.closest(STREAMED);
  if (streamed) return streamed;
  let child: Node = element;
  for (let node: Node | null = element; node; node = node.parentNode) {
    // No framework hydrates the shadow roots below its elements.
    if (node instanceof ShadowRoot) return null;
    const key = findReactKey(node);
    if (key) return findReactBlocker(node, child, Reflect.get(node, key));
    // Vue and older versions of React hydrate a container in one go, and then set these.
    if ("_reactRootContainer" in node) return null;
    if ("__vue_app__" in node) return isSuspenseHydrating(node) ? node : null;
    child = node;
  }
  return findExpectedRoot(element);
}

const WAIT_MAX_MS = 3_000;

/** The time at which a root or an element was first found to be blocked. */
const since = new WeakMap<Node, number>();

/** Whether an element was blocked in the last round of work. */
export let isHydrating = false;

/** Whether the parser can still add content to an element: nothing follows it yet. */
function isParsing(element: Element): boolean {
  for (let node: Node | null = element; node; node = node.parentNode) if (node.nextSibling) return false;
  return document.readyState === "loading";
}

/**
 * Whether an element must not be changed yet: because a framework has still to hydrate it, and an earlier change would
 * cause a hydration error, or because its content is still loading. The wait for a root or an element ends after three
 * seconds.
 *
 * @param needsContent whether the change needs all of the element's content
 */
export function isBlocked(element: Element, needsContent = false): boolean {
  const blocker = needsContent && isParsing(element) ? element : findBlocker(element);
  if (!blocker) return false;
  const nowMs = performance.now();
  for (const node of [blocker, element]) {
    const sinceMs = since.get(node) ?? nowMs;
    since.set(node, sinceMs);
    if (nowMs - sinceMs > WAIT_MAX_MS) return false;
  }
  isHydrating = true;
  return true;
}

/** Begins a round of work: clears the cached hints and `isHydrating`. */
export function forgetBlocked(): void {
  hints = undefined;
  isHydrating = false;
}
