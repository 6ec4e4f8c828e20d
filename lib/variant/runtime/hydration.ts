/**
 * The properties of a fiber, React's internal node, that are read here. React has them since version 17. Version 16 has
 * other flags, and hydrates without a pause.
 */
type Fiber = {
  return: Fiber | null;
  flags: number;
  stateNode?: { current?: Fiber } | null;
  memoizedState?: { isDehydrated?: boolean } | null;
};

/** The flag that a fiber has from the start of its hydration until React commits it. */
const REACT_HYDRATING = 4096;

/** Matches root elements of frameworks that always hydrate. */
const STRONG_ROOTS =
  "#__next,#__nuxt,#___gatsby,[data-server-rendered],[data-reactroot],[data-hk],astro-island[ssr]";
/** Matches ids that are used by frameworks, but also by plain pages. They count only while the page's scripts still load. */
const WEAK_ROOTS = "#root,#app";
/** Matches content of a Suspense boundary that was streamed, but that React has not moved to its place yet. */
const STREAMED = '[hidden][id^="S:"]';
/**
 * Matches comments that server renderers leave in the document: React's boundaries and text separators, and the block
 * markers of Vue and Svelte.
 */
const MARKER = /^(\$[?!~]?|&| |\[.{0,3})$/;
const REACT_KEY = /^__react(Fiber|Container)\$/;
/** `NodeFilter.SHOW_COMMENT` */
const SHOW_COMMENT = 128;
/** Matches elements that show that the whole document is hydrated, by Next's App Router or by React Router. */
const DOCUMENT_SCRIPTS = 'script[src*="/_next/static/"],link[href*="entry.client"]';

/** Whether React is hydrating the part of the page to which this fiber belongs. */
function isFiberHydrating(fiber: Fiber): boolean {
  for (let each: Fiber | null = fiber; each; each = each.return)
    if (each.flags & REACT_HYDRATING) return true;
  return false;
}

/** Finds the start of the Suspense boundary around a node that React does not know; null if there is none. */
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
  // Svelte defines this property when it mounts or hydrates its first component. It hydrates without a pause, so its markers
  // then no longer count.
  !(node.data[0] === "[" && Object.hasOwn(Element.prototype, "__e"));

/** Signs of server rendering in the document, read at most once per round of work. */
type Hints = {
  /** Children of the body that contain comments of a server renderer. The body itself, if it has such comments directly. */
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

/**
 * The root that a framework will probably hydrate, for an element that belongs to no framework yet; null if there is none.
 */
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

/**
 * The container of a Vue 3 app whose root is a Suspense boundary, as in Nuxt. Vue stores the root node of the app in
 * `_vnode`.
 */
type VueContainer = {
  _vnode?: { component?: { subTree?: { suspense?: { isHydrating?: boolean } | null } } };
};

/** Whether Vue still waits for asynchronous components, which it hydrates later. The cast adds Vue's own property. */
const isSuspenseHydrating = (node: Node) =>
  (node as VueContainer)._vnode?.component?.subTree?.suspense?.isHydrating;

/** The root or boundary that must be hydrated before the element may be changed; null if there is none. */
function findBlocker(element: Element): Node | null {
  const streamed = element.closest(STREAMED);
  if (streamed) return streamed;
  let child: Node = element;
  for (let node: Node | null = element; node; node = node.parentNode) {
    // The element is inside a shadow root, which no framework outside of it hydrates.
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

/** When a root or an element was first found to be blocked, in milliseconds since navigation start. */
const since = new WeakMap<Node, number>();

/** Whether an element was blocked since the last call of `forgetBlocked`. */
export let isHydrating = false;

/** Whether the parser can still add content to an element: nothing follows it yet. */
function isParsing(element: Element): boolean {
  for (let node: Node | null = element; node; node = node.parentNode) if (node.nextSibling) return false;
  return document.readyState === "loading";
}

/**
 * Whether an element must not be changed yet. Either a framework still has to hydrate it, and a change before that would
 * cause a hydration error, or its content is still loading. After three seconds, an element no longer counts as blocked.
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
