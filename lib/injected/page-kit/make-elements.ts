import type { PageElement } from "#lib/dom/make-dom.ts";
import { dom } from "../dom.ts";
import { targetOf } from "./link-target.ts";
import { hintOf, iconOf, iconOrClassOf, markerOf } from "./make-hints.ts";
import type { SearchKit } from "./make-search.ts";
import { makeStates, type StateKit } from "./make-states.ts";
import { quote } from "./quote.ts";

/** How people can use an element of the page. Null if people cannot use the element. */
type ElementPurpose =
  | "control"
  | "clickable"
  | "draggable"
  | "focusable"
  | "drop target"
  | "scrollable"
  | null;

/** Functions that name and describe single elements. */
export type ElementKit = Pick<StateKit, "statesOf"> & {
  /**
   * Returns the element's ref, such as `e7`, by which the model refers to the element. The first call assigns the ref.
   * A ref is valid as long as its element exists.
   */
  refOf: (element: PageElement) => string;
  /** Finds the element of a ref. Returns undefined if this frame never assigned the ref, or if the element was removed. */
  elementOf: (ref: string) => PageElement | undefined;
  /**
   * Returns how people can use an element.
   * @param style the element's computed style.
   * @param isPointerInherited whether the parent has the pointer cursor. If so, the element's own pointer cursor does
   * not make it clickable.
   */
  purposeOf: (
    element: PageElement,
    role: string | null,
    style: CSSStyleDeclaration,
    isPointerInherited: boolean,
  ) => ElementPurpose;
  /**
   * Describes the element and its states on one line: `textbox "Email" [e3] required value "a@b.example"`. `head` is
   * the first word of the line, usually the element's role.
   */
  describe: (element: PageElement, head: string, name: string, ref: string | null) => string;
  /** @see iconOf */
  iconOf: typeof iconOf;
  /** @see iconOrClassOf */
  iconOrClassOf: typeof iconOrClassOf;
  /** @see hintOf */
  hintOf: typeof hintOf;
  /** @see markerOf */
  markerOf: typeof markerOf;
  /**
   * The given attributes that the element has, such as ` href "https://…"`. The URLs in `href` and `src` are made
   * absolute. The value of a password field is left out. Without `href`, a link's target is described briefly.
   */
  attributesOf: (element: PageElement, names: string[], name: string) => string;
  /** @see quote */
  quote: typeof quote;
};

/**
 * The frame's prefix for refs, and the number of its next ref. The service stores the counter, because a ref must never
 * be assigned twice in the same browser.
 */
export type RefCounter = { prefix: string; next: number };

/** The refs of the document's elements. The world keeps its bundle, so refs stay valid across calls. */
const registry = {
  refOf: new WeakMap<PageElement, string>(),
  byRef: new Map<string, WeakRef<PageElement>>(),
};

const CONTROLS = new Set(
  "button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton menuitem menuitemcheckbox menuitemradio tab treeitem option scrollbar".split(
    " ",
  ),
);
const CLICK_HANDLERS = "[onclick], [ondblclick], [onmousedown], [onmouseup], [onpointerdown], [onpointerup]";

/** Creates the functions that name and describe elements. */
export function makeElements(search: SearchKit, counter: RefCounter): ElementKit {
  const { statesOf, isScrollable } = makeStates(search);

  const refOf = (element: PageElement): string => {
    const existing = registry.refOf.get(element);
    if (existing !== undefined) return existing;
    const ref = `${counter.prefix}e${counter.next++}`;
    registry.refOf.set(element, ref);
    registry.byRef.set(ref, new WeakRef(element));
    return ref;
  };
  const elementOf = (ref: string): PageElement | undefined => {
    const element = registry.byRef.get(ref)?.deref();
    return element && dom.isConnected(element) ? element : undefined;
  };
  /**
   * Whether an element contains many controls. Its click listener probably handles clicks on these controls, so the
   * element itself does not count as clickable.
   */
  const isDelegate = (element: PageElement): boolean =>
    dom.querySelectorAll(element, "a[href], button, input, select, textarea, [role=button]").length > 8;
  const purposeOf: ElementKit["purposeOf"] = (element, role, style, isPointerInherited) => {
    if (role !== null && CONTROLS.has(role)) return "control";
    if (
      dom.matches(
        element,
        "summary, [contenteditable]:not([contenteditable=false]), audio[controls], video[controls]",
      )
    )
      return "control";
    if (element === dom.body(document) || element === dom.documentElement(document)) return null;
    const isPointer = !isPointerInherited && style.cursor === "pointer";
    if ((isPointer || dom.matches(element, CLICK_HANDLERS)) && !isDelegate(element)) return "clickable";
    if (dom.matches(element, "[draggable=true]")) return "draggable";
    if (dom.matches(element, "[tabindex]:not([tabindex='-1'])")) return "focusable";
    if (dom.matches(element, "[ondrop]")) return "drop target";
    return isScrollable(element, style) ? "scrollable" : null;
  };

  const describe: ElementKit["describe"] = (element, head, name, ref) => {
    const level =
      head === "heading"
        ? (dom.getAttribute(element, "aria-level") ?? dom.localName(element).slice(1))
        : null;
    const placeholder = dom.getAttribute(element, "placeholder")?.trim();
    const isEmptyField = dom.property(element, "value") === "";
    return [
      head,
      ...(level !== null && /^[1-9]$/.test(level) ? [level] : []),
      ...(name ? [quote(name, 160)] : []),
      ...(ref === null ? [] : [`[${ref}]`]),
      ...(placeholder && placeholder !== name && isEmptyField
        ? [`placeholder ${quote(placeholder, 80)}`]
        : []),
      ...statesOf(element, ref !== null),
    ].join(" ");
  };
  const attributesOf: ElementKit["attributesOf"] = (element, names, label) => {
    const shown = names
      .filter((name) => dom.hasAttribute(element, name) && !(name === "value" && search.isSecret(element)))
      .map((name) => {
        const own: unknown = name === "href" || name === "src" ? dom.property(element, name) : null;
        return ` ${name} ${quote(typeof own === "string" ? own : (dom.getAttribute(element, name) ?? ""), 500)}`;
      });
    const target = names.includes("href") ? "" : targetOf(element, label);
    return `${target && ` ${target}`}${shown.join("")}`;
  };
  return {
    attributesOf,
    refOf,
    elementOf,
    purposeOf,
    describe,
    statesOf,
    iconOf,
    iconOrClassOf,
    hintOf,
    markerOf,
    quote,
  };
}
