import type { PageElement, PageNode } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { find, some } from "./lists.ts";

/**
 * The properties of a fiber that this module reads. A fiber is React's internal node. React has these properties since
 * version 17.
 */
type Fiber = {
  return: Fiber | null;
  flags: number;
  stateNode?: { current?: Fiber } | null;
  memoizedState?: { isDehydrated?: boolean } | null;
};

/** The flag that a fiber has from the start of its hydration until React commits it. */
const REACT_HYDRATING = 4096;

/** Matches elements with marks that Angular and Astro remove when they hydrate the element. */
const PENDING = "[ngh],astro-island[ssr]";
/**
 * Angular removes the mark of a component when it creates the component. It hydrates the component's blocks, such as
 * `@if`, in a later task, which it has scheduled before. The time begins when the main thread is idle, because on a busy
 * main thread the task may begin after any fixed time.
 */
const AFTER_MARK_MS = 250;
/** Elements that may not be changed because of such a mark. */
const marked = new WeakSet<PageNode>();
/** Matches root elements of frameworks that always hydrate. These marks stay after hydration. */
const ROOTS = "#__next,#__nuxt";
/**
 * Matches content that the server streamed for a Suspense boundary. React moves the content into the boundary later.
 */
const STREAMED = '[hidden][id^="S:"]';
/**
 * Matches comments that server renderers leave in the document: the boundaries and text separators of React, and the
 * block markers of Vue and Svelte.
 */
const MARKER = /^(\$[?!~]?|&| |\[.{0,3})$/;
const REACT_KEY = /^__react(Fiber|Container)\$/;
/** `NodeFilter.SHOW_COMMENT` */
const SHOW_COMMENT = 128;
/** Matches elements of Next's App Router and of React Router, which hydrate the whole document. */
const DOCUMENT_SCRIPTS = 'script[src*="/_next/static/"],link[href*="entry.client"]';

/** Whether React is hydrating the part of the page to which this fiber belongs. */
function isFiberHydrating(fiber: Fiber): boolean {
  for (let each: Fiber | null = fiber; each; each = each.return)
    if (each.flags & REACT_HYDRATING) return true;
  return false;
}

/** Finds the comment that begins the Suspense boundary around a node. Null if the node is in no such boundary. */
function findBoundary(node: PageNode): PageNode | null {
  let depth = 0;
  for (let each = dom.previousSibling(node); each; each = dom.previousSibling(each)) {
    if (!(each instanceof Comment)) continue;
    if (each.data === "/$" || each.data === "/&") depth++;
    else if (/^[$&]/.test(each.data) && depth-- === 0) return each;
  }
  return null;
}

function findReactBlocker(node: PageNode, child: PageNode, fiber: Fiber): PageNode | null {
  if (isFiberHydrating(fiber)) return document;
  if (node === child) return null;
  // React has no fiber for the child: the child is not hydrated yet, or does not come from React.
  const isDehydrated = fiber.stateNode?.current?.memoizedState?.isDehydrated;
  return isDehydrated ? node : findBoundary(child);
}

/** Finds the name of the property in which React stores the fiber of a node, or the root fiber of a container. */
const findReactKey = (node: PageNode) => find(Object.keys(node), (each) => REACT_KEY.test(each));

const isMarker = (node: PageNode) =>
  node instanceof Comment &&
  MARKER.test(node.data) &&
  // Svelte defines this property when it mounts or hydrates its first component. Svelte hydrates without a pause, so
  // its comments no longer count when the property exists.
  !(node.data[0] === "[" && "__e" in Element.prototype);

/** Signs of server rendering in the document. They are cached until `forgetBlocked` is called. */
type Hints = {
  /**
   * Children of the body that contain comments of a server renderer. The body itself is in the set if such a comment is
   * its direct child.
   */
  parts: Set<PageNode | null>;
  /** A script or link of a framework that hydrates the whole document. */
  documentScript: PageElement | undefined;
  hasRunningScripts: boolean;
  /** A module that the page announces, because a script of the page will import it. */
  announcedModule: PageElement | undefined;
};
let hints: Hints | undefined;

const findFirst = (selector: string) => dom.querySelectorAll(document, selector)[0];

/** Whether the parser may still add content to the document. */
export const isLoading = () => dom.readyState(document) === "loading";

const isLoaded = () => dom.readyState(document) === "complete";

/** Scripts that have run or failed. */
const scriptsRun = new WeakSet<PageNode>();
/** Whether the main thread has been idle after the page's load. */
let isIdle = false;
for (const type of ["load", "error"])
  dom.addEventListener(document, type, ({ target }) => scriptsRun.add(target as Element), true);
// No event reports the scripts that ran before the runtime started. The parser waits for classic scripts.
for (const script of dom.querySelectorAll(document, "script[src]:not([async],[defer],[type=module])"))
  scriptsRun.add(script);

/**
 * Whether a script has not run yet that may hydrate the page: every script except third-party scripts that the page does
 * not wait for.
 */
function isRunning(script: PageElement): boolean {
  const source = dom.property(script, "src");
  // An inline script of the selected ones is a module. It runs when the document has been parsed.
  if (!source) return isLoading();
  const isOwn = dom.property(script, "async") !== true || String(source).startsWith(location.origin);
  return isOwn && !scriptsRun.has(script);
}

function readHints(): Hints {
  const parts = new Set<PageNode | null>();
  const comments = dom.createTreeWalker(document, document, SHOW_COMMENT);
  while (comments.nextNode()) {
    const { currentNode } = comments;
    const parent = dom.parentElement(currentNode);
    if (parent && isMarker(currentNode) && !findReactKey(parent))
      parts.add(dom.closest(parent, "body > *") ?? parent);
  }
  return {
    parts,
    documentScript: findFirst(DOCUMENT_SCRIPTS),
    announcedModule: findFirst("[rel=modulepreload]"),
    hasRunningScripts:
      !isLoaded() && some(dom.querySelectorAll(document, "script[src],[type=module]"), isRunning),
  };
}

// Safari has no idle callbacks.
const onIdle = (react: () => void) => (window.requestIdleCallback ?? setTimeout)(react);

/** Whether the page is loaded, and the main thread has been idle after that. */
function isQuiet(): boolean {
  if (isLoaded() && !isIdle)
    onIdle(() => {
      isIdle = true;
    });
  return isIdle;
}

/** What Solid keeps about hydration: the elements that it has hydrated. */
type SolidState = { done?: boolean; completed?: WeakSet<PageNode> | null };

/** Finds the element with a key of Solid that Solid has not hydrated. Solid never removes the keys. */
function findSolidBlocker(element: PageElement): PageNode | null {
  const keyed = dom.closest(element, "[data-hk]");
  const state = Reflect.get(window, "_$HY") as SolidState | undefined;
  return state?.done || (keyed && state?.completed?.has(keyed)) ? null : keyed;
}

/**
 * Finds what a framework will probably hydrate. Called only for an element that belongs to no framework yet. Null if no
 * hydration is expected.
 */
function findExpectedRoot(element: PageElement): PageNode | null {
  if (dom.closest(element, PENDING)) marked.add(element);
  else if (marked.has(element)) onIdle(() => setTimeout(() => marked.delete(element), AFTER_MARK_MS));
  const isMarked = marked.has(element);
  hints ??= readHints();
  const { parts, documentScript, hasRunningScripts, announcedModule } = hints;
  const part = find([dom.body(document), dom.closest(element, "body > *")], (each) => parts.has(each));
  const root = isMarked
    ? element
    : (dom.closest(element, ROOTS) ?? findSolidBlocker(element) ?? part ?? (documentScript && document));
  // While the parser runs, the scripts that will hydrate the root may not be in the document yet. No event tells when
  // imported modules have run, and in Firefox the page's load does not wait for them.
  const isSilent = isMarked ? isQuiet() : !hasRunningScripts && !isLoading() && !announcedModule;
  if (!root || isSilent) waitMaxMs = SILENCE_MAX_MS;
  return root ?? (hasRunningScripts ? document : null);
}

/**
 * The container of a Vue 3 app whose root is a Suspense boundary, as in Nuxt. Vue stores the root node of the app in
 * `_vnode`.
 */
type VueContainer = {
  _vnode?: { component?: { subTree?: { suspense?: { isHydrating?: boolean } | null } } };
};

/** Whether Vue has asynchronous components that it has not hydrated yet. The cast adds Vue's own property. */
const isSuspenseHydrating = (node: PageNode) =>
  (node as VueContainer)._vnode?.component?.subTree?.suspense?.isHydrating;

/** Whether Lit will hydrate a shadow root. Its server renderer leaves a comment, and hydration defines a property. */
const isLitPending = (root: PageNode) =>
  !("_$litPart$" in root) &&
  some(dom.childNodes(root), (node) => node instanceof Comment && /^lit/.test(node.data));

/**
 * Finds the root or boundary that must be hydrated before the element may be changed. Null if the element can be
 * changed.
 */
function findBlocker(element: PageElement): PageNode | null {
  const streamed = dom.closest(element, STREAMED);
  if (streamed) return streamed;
  let child: PageNode = element;
  for (let node: PageNode | null = element; node; node = dom.parentNode(node)) {
    const host = dom.host(node);
    // A framework outside of a shadow root does not hydrate its content.
    if (host) return isLitPending(node) ? (findExpectedRoot(host) ?? host) : null;
    const key = findReactKey(node);
    if (key) return findReactBlocker(node, child, Reflect.get(node, key));
    // Vue hydrates a container without a pause. After that, the container has this property.
    if ("__vue_app__" in node) return isSuspenseHydrating(node) ? node : null;
    child = node;
  }
  return findExpectedRoot(element);
}

/** How long a change waits for a framework whose marks or loading scripts say that it will hydrate the page. */
const WAIT_MAX_MS = 3_000;
/**
 * How long a change waits if nothing says so: for scripts of a page without marks, and for marks after the page's
 * scripts have run. The time for marks that a framework removes begins when the page is loaded and the main thread has
 * been idle, because such frameworks start their work in later tasks.
 */
const SILENCE_MAX_MS = 500;
let waitMaxMs = 0;

/** Until when a root or an element may block changes, in milliseconds since navigation start. */
const blockedUntilMs = new WeakMap<PageNode, number>();

/** Whether `isBlocked` has returned true since the last call of `forgetBlocked`. */
export let isHydrating = false;

/** Whether the parser may still add content to an element. This is the case while no node follows the element. */
function isParsing(element: PageElement): boolean {
  for (let node: PageNode | null = element; node; node = dom.parentNode(node))
    if (dom.nextSibling(node)) return false;
  return isLoading();
}

/** Whether the page is not at the point yet at which its entry of the document has its changes applied. */
function isEarly(when: string): boolean {
  if (when === "load") return !isLoaded();
  if (when === "idle") return !isQuiet();
  return when !== "now" && !findFirst(when);
}

/**
 * Whether an element must not be changed yet. One reason is that a framework has not hydrated the element, and a change
 * before that would cause a hydration error. The other is that the content of the element is still loading. An element
 * no longer counts as blocked after some time, except while the page is not at the point that `when` names.
 *
 * @param needsContent whether the change needs all of the element's content
 * @throws DOMException if `when` is an invalid selector
 */
export function isBlocked(element: PageElement, needsContent: boolean, when: string | undefined): boolean {
  waitMaxMs = WAIT_MAX_MS;
  const blocker = needsContent && isParsing(element) ? element : when ? null : findBlocker(element);
  if (!(when && isEarly(when))) {
    if (!blocker) return false;
    const nowMs = performance.now();
    const limitMs = nowMs + waitMaxMs;
    const untilMs = Math.min(blockedUntilMs.get(blocker) ?? limitMs, limitMs);
    blockedUntilMs.set(blocker, untilMs);
    if (nowMs > untilMs) return false;
  }
  isHydrating = true;
  return true;
}

/** Clears the cached hints, and sets `isHydrating` to false. */
export function forgetBlocked(): void {
  hints = undefined;
  isHydrating = false;
}
