import type { PageElement, PageNode } from "#lib/dom/make-dom.ts";
import type { DocumentWatch } from "../watch-document.ts";
import type { ControlFinder } from "./find-controls.ts";

/** An element that became visible, such as an item of a menu. */
export type OpenedItem = {
  keys: string[];
  label: string;
  /** Whether people see the middle of the element, so that they can click it. */
  isReachable: boolean;
};

/** What a document did after a control was operated. */
export type SeenReaction = {
  /** Whether the control is still in the document. */
  isConnected: boolean;
  /** Whether the page prevented what the browser does on a click. Null if no click arrived. */
  isClickPrevented: boolean | null;
  /** Whether the page prevented that the browser submits the form. Null if no form was submitted. */
  isSubmitPrevented: boolean | null;
  /** Name of the field whose value the form refused. */
  invalid: string | null;
  /** How many elements of the control changed, and how many others. */
  inside: number;
  outside: number;
  /** How many elements changed while the click was handled. Pages change nothing by themselves during that time. */
  direct: number;
  /** Whether the elements that the page changes by itself are known, and do not count in `inside` and `outside`. */
  isIdleKnown: boolean;
  /** Whether the control says that it is open: `aria-expanded`, or the `open` of its `details`. */
  expanded: string | null;
  opened: OpenedItem[];
  /** Keys of the element that has the focus. Null if none has it. */
  focus: string[] | null;
  focusLabel: string | null;
  value: string | null;
  /** Names of the fields that the variant removes on purpose. */
  removedFields: string[];
};

/** Records what happens in a document while a control is operated. It is created once for each document. */
export type ReactionRecorder = {
  /** Records for some time which elements the page changes by itself. They are ignored from then on. */
  recordIdle: (idleMs: number) => Promise<void>;
  start: (target: PageElement) => void;
  read: () => SeenReaction;
};

/**
 * Creates a {@link ReactionRecorder}.
 */
export function makeReactionRecorder(watch: DocumentWatch, finder: ControlFinder): ReactionRecorder {
  const ELEMENTS_MAX = 3_000;
  const ITEMS_MAX = 20;
  const MUTATED_MAX = 500;
  const dom = watch.newKit().dom;
  const restless = new WeakSet<PageNode>();
  let isIdleKnown = false;
  let mutated = new Set<PageElement>();
  /** The elements that changed while clicks were handled. */
  let direct = new Set<PageElement>();
  let isHandling = false;
  let target: PageElement | null = null;
  let before = new Set<PageElement>();
  let events: Event[] = [];
  let invalid: string | null = null;

  const listVisible = (): PageElement[] => {
    const kit = watch.newKit();
    const body = dom.body(document);
    if (!body) return [];
    return kit.queryAll("body *").slice(0, ELEMENTS_MAX).filter(kit.isVisible);
  };
  const collect = (records: MutationRecord[]) => {
    for (const { type, target: node, attributeName, oldValue } of records) {
      const element = dom.isElement(node) ? node : dom.parentNode(node);
      if (!dom.isElement(element) || mutated.size >= MUTATED_MAX) continue;
      const isSame =
        type === "attributes" &&
        attributeName !== null &&
        dom.getAttribute(element, attributeName) === oldValue;
      const text = type === "characterData" && dom.textContent(node) === oldValue;
      if (isSame || text || dom.closest(element, "head")) continue;
      mutated.add(element);
      if (isHandling) direct.add(element);
    }
  };
  const observer = new MutationObserver(collect);
  const observe = () => {
    const options = { subtree: true, childList: true, attributeOldValue: true, characterDataOldValue: true };
    // The cast is safe: the roots are documents and shadow roots.
    for (const root of watch.newKit().roots()) observer.observe(root as unknown as Node, options);
  };
  const stop = () => {
    collect(observer.takeRecords());
    observer.disconnect();
  };
  const endHandling = () => {
    collect(observer.takeRecords());
    isHandling = false;
  };
  const onEvent = (event: Event) => {
    if (event.isTrusted && events.length < 20) events.push(event);
    if (event.type === "click" && event.isTrusted) {
      collect(observer.takeRecords());
      isHandling = true;
      // This task follows all listeners and the microtasks that they have queued, and comes before the page's timers and
      // messages, also those that are due already.
      void scheduler.postTask(endHandling, { priority: "user-blocking" });
    }
    if (event.type !== "invalid") return;
    // The cast is safe: only fields get this event.
    const field = event.composedPath()[0] as PageNode | undefined;
    if (dom.isElement(field)) invalid ??= dom.getAttribute(field, "name") ?? dom.localName(field);
  };
  for (const type of ["click", "submit", "invalid"])
    window.addEventListener(type, onEvent, { capture: true, passive: true });
  // On a busy page a key can arrive before the task that ends the handling of the click.
  const onKey = ({ isTrusted }: Event) => {
    if (isTrusted) endHandling();
  };
  window.addEventListener("keydown", onKey, { capture: true, passive: true });

  const expandedOf = (element: PageElement): string | null => {
    const details = dom.localName(element) === "summary" ? dom.parentElement(element) : null;
    return details ? String(dom.hasAttribute(details, "open")) : dom.getAttribute(element, "aria-expanded");
  };
  const deepHit = (x: number, y: number): PageElement | null => {
    let hit = dom.elementFromPoint(document, x, y);
    for (let depth = 0; hit && depth < 20; depth += 1) {
      const root = dom.shadowRoot(hit);
      const inner = root && dom.elementFromPoint(root, x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit;
  };
  /** Whether an item is to the left of the page or above it, where people cannot scroll to. */
  const isOffPage = (item: PageElement): boolean => {
    const { right, bottom } = dom.getBoundingClientRect(item);
    return right + window.scrollX <= 0 || bottom + window.scrollY <= 0;
  };
  /** Whether the opened content scrolls, and people have to scroll it to see a point of an item. */
  const isScrolledOut = (item: PageElement, x: number, y: number, opened: Set<PageElement>): boolean => {
    for (let each: PageElement | null = item; each && opened.has(each); each = finder.parentOf(each)) {
      const { overflowY, overflowX } = dom.computedStyle(each);
      const { left, right, top, bottom } = dom.getBoundingClientRect(each);
      const isOutside = x < left || x > right || y < top || y > bottom;
      if (isOutside && /auto|scroll/.test(`${overflowY} ${overflowX}`)) return true;
    }
    return false;
  };
  const listOpened = (): OpenedItem[] => {
    const opened = new Set(listVisible().filter((element) => !before.has(element)));
    const hasText = (element: PageElement) =>
      dom.childNodes(element).some((node) => node instanceof Text && node.data.trim() !== "");
    const isItem = (element: PageElement) =>
      dom.matches(element, "a, button, input, select, textarea, [role]") || hasText(element);
    return [...opened]
      .filter(isItem)
      .slice(0, ITEMS_MAX)
      .flatMap((item): OpenedItem[] => {
        const { left, top, width, height } = dom.getBoundingClientRect(item);
        const [x, y] = [left + width / 2, top + height / 2];
        if (isOffPage(item))
          return [{ keys: finder.keysOf(item), label: finder.labelOf(item), isReachable: false }];
        const isInView = x >= 0 && y >= 0 && x < window.innerWidth && y < window.innerHeight;
        if (
          !isInView ||
          dom.computedStyle(item).pointerEvents === "none" ||
          isScrolledOut(item, x, y, opened)
        )
          return [];
        const hit = deepHit(x, y);
        const isReachable = hit !== null && (finder.isWithin(item, hit) || finder.isWithin(hit, item));
        // An element around the item that is not part of the opened content is hit where the item is cut off.
        const isCut = hit !== null && hit !== item && finder.isWithin(hit, item) && !opened.has(hit);
        const label = finder.labelOf(item);
        return [{ keys: finder.keysOf(item), label, isReachable: isReachable && !isCut }];
      });
  };
  /** The element that has the focus, also inside shadow roots. Their elements are found after those around them. */
  const readFocus = (): PageElement | null => watch.newKit().queryAll(":focus").at(-1) ?? null;

  return {
    async recordIdle(idleMs) {
      mutated = new Set();
      observe();
      await new Promise((resolve) => setTimeout(resolve, idleMs));
      stop();
      for (const element of mutated) restless.add(element);
      isIdleKnown = true;
    },
    start(element) {
      target = element;
      mutated = new Set();
      direct = new Set();
      events = [];
      invalid = null;
      before = new Set(listVisible());
      observe();
    },
    read() {
      stop();
      const kit = watch.newKit();
      const removed = watch.changes
        .filter(({ op }) => op === "remove")
        .flatMap((change) => watch.verifier.subjects(kit, change));
      const removedFields = removed
        .flatMap((element) => [element, ...dom.querySelectorAll(element, "[name]")])
        .flatMap((element) => dom.getAttribute(element, "name") ?? [])
        .slice(0, ITEMS_MAX);
      const isRemoved = (element: PageElement) => removed.some((each) => finder.isWithin(each, element));
      const own = target;
      const counted = [...mutated].filter((element) => !restless.has(element) && !isRemoved(element));
      const inside = own === null ? 0 : counted.filter((element) => finder.isWithin(own, element)).length;
      const lastOf = (type: string) => events.findLast((event) => event.type === type);
      const active = readFocus();
      const focused = active && isRemoved(active) ? null : active;
      const value = focused && (dom.property(focused, "value") ?? dom.textContent(focused));
      return {
        isConnected: own !== null && dom.isConnected(own),
        isClickPrevented: lastOf("click")?.defaultPrevented ?? null,
        isSubmitPrevented: lastOf("submit")?.defaultPrevented ?? null,
        invalid,
        inside,
        outside: counted.length - inside,
        direct: [...direct].filter((element) => !isRemoved(element)).length,
        isIdleKnown,
        expanded: own && expandedOf(own),
        opened: listOpened(),
        removedFields,
        focus: focused && finder.keysOf(focused),
        focusLabel: focused && finder.labelOf(focused),
        value: typeof value === "string" && !(focused && kit.isSecret(focused)) ? value.slice(0, 200) : null,
      };
    },
  };
}
