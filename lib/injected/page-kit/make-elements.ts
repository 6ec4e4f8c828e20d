import type { PageElement } from "#lib/dom/make-dom.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { dom } from "../dom.ts";
import type { SearchKit } from "./make-search.ts";

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
export type ElementKit = {
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
  /** The element's states, such as `required`. */
  statesOf: (element: PageElement) => string[];
  /**
   * Guesses from attributes, class names and file names what an icon shows, and returns a text such as ` icon "trash"`.
   * The text is empty if there is no hint.
   */
  iconOf: (element: PageElement) => string;
  /**
   * The given attributes that the element has, such as ` href "https://…"`. The URLs in `href` and `src` are made
   * absolute. The value of a password field is left out.
   */
  attributesOf: (element: PageElement, names: string[]) => string;
  /**
   * Writes a text as a JSON string, cut at `max` characters. JSON escapes quotes, so text of the page cannot end the
   * string.
   */
  quote: (text: string, max: number) => string;
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

/** Creates the functions that name and describe elements. */
export function makeElements(search: SearchKit, counter: RefCounter): ElementKit {
  const controls = new Set(
    "button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton menuitem menuitemcheckbox menuitemradio tab treeitem option scrollbar".split(
      " ",
    ),
  );
  const clickHandlers = "[onclick], [ondblclick], [onmousedown], [onmouseup], [onpointerdown], [onpointerup]";

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
  const isScrollable = (element: PageElement, style: CSSStyleDeclaration): boolean =>
    (style.overflowY === "auto" || style.overflowY === "scroll") &&
    element !== dom.scrollingElement(document) &&
    element !== dom.body(document) &&
    dom.clientHeight(element) > 0 &&
    dom.scrollHeight(element) > dom.clientHeight(element) + 40;

  /**
   * Whether an element contains many controls. Its click listener probably handles clicks on these controls, so the
   * element itself does not count as clickable.
   */
  const isDelegate = (element: PageElement): boolean =>
    dom.querySelectorAll(element, "a[href], button, input, select, textarea, [role=button]").length > 8;
  const purposeOf: ElementKit["purposeOf"] = (element, role, style, isPointerInherited) => {
    if (role !== null && controls.has(role)) return "control";
    if (
      dom.matches(
        element,
        "summary, [contenteditable]:not([contenteditable=false]), audio[controls], video[controls]",
      )
    )
      return "control";
    if (element === dom.body(document) || element === dom.documentElement(document)) return null;
    const isPointer = !isPointerInherited && style.cursor === "pointer";
    if ((isPointer || dom.matches(element, clickHandlers)) && !isDelegate(element)) return "clickable";
    if (dom.matches(element, "[draggable=true]")) return "draggable";
    if (dom.matches(element, "[tabindex]:not([tabindex='-1'])")) return "focusable";
    if (dom.matches(element, "[ondrop]")) return "drop target";
    return isScrollable(element, style) ? "scrollable" : null;
  };

  const quote = (text: string, max: number) =>
    JSON.stringify(text.length > max ? `${beginningOf(text, max - 1)}…` : text);
  const token = (value: string | null, pattern: RegExp) =>
    value !== null && pattern.test(value) ? value : null;
  const optionsOf = (select: HTMLSelectElement | HTMLDataListElement): string => {
    const shown = [...select.options].slice(0, 12).map((option) => quote(option.label || option.value, 60));
    const more = select.options.length - shown.length;
    return `options ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  };
  const fieldStates = (element: PageElement): string[] => {
    const states: string[] = [];
    if (element instanceof HTMLInputElement) {
      const { type } = element;
      if (/^(date|time|datetime-local|month|week|color|file|password)$/.test(type))
        states.push(`type ${type}`);
      if (type === "checkbox" || type === "radio") {
        if (element.indeterminate) states.push("mixed");
        else if (element.checked) states.push("checked");
      } else if (search.isSecret(element)) {
        if (element.value) states.push('value "•••"');
      } else if (type === "file") {
        states.push(
          ...(element.multiple ? ["multiple"] : []),
          ...[...(element.files ?? [])].map(({ name }) => quote(name, 80)),
        );
      } else if (!/^(button|submit|reset|image)$/.test(type) && element.value) {
        states.push(`value ${quote(element.value, 200)}`);
      }
      for (const limit of ["min", "max", "step"] as const)
        if (element[limit]) states.push(`${limit} ${quote(element[limit], 20)}`);
      if (element.list) states.push(optionsOf(element.list));
    } else if (element instanceof HTMLTextAreaElement && element.value) {
      states.push(`value ${quote(element.value, 500)}`);
    } else if (element instanceof HTMLSelectElement) {
      const selected = [...element.selectedOptions].slice(0, 10).map(({ label }) => quote(label, 60));
      states.push(`value ${selected.join(", ") || '""'}`, optionsOf(element));
    } else if (element instanceof HTMLProgressElement || element instanceof HTMLMeterElement) {
      states.push(`value ${element.value} of ${element.max}`);
    }
    return states;
  };
  const ariaStates = (element: PageElement): string[] => {
    const aria = (name: string) => dom.getAttribute(element, `aria-${name}`);
    const states: string[] = [];
    const { checked, pressed } = { checked: aria("checked"), pressed: aria("pressed") };
    if (checked === "true" || checked === "mixed") states.push(checked === "true" ? "checked" : "mixed");
    if (pressed === "true" || pressed === "mixed") states.push("pressed");
    if (aria("selected") === "true") states.push("selected");
    const around = dom.parentElement(element);
    const expanded =
      dom.localName(element) === "summary" && around instanceof HTMLDetailsElement
        ? String(around.open)
        : aria("expanded");
    if (expanded === "true" || expanded === "false")
      states.push(expanded === "true" ? "expanded" : "collapsed");
    if (dom.matches(element, ":disabled") || aria("disabled") === "true") states.push("disabled");
    if (dom.property(element, "readOnly") === true) states.push("readonly");
    if (dom.property(element, "required") === true || aria("required") === "true") states.push("required");
    if (aria("invalid") === "true" || dom.matches(element, ":user-invalid")) states.push("invalid");
    const current = token(aria("current"), /^(page|step|location|date|time|true)$/);
    if (current) states.push(`current${current === "true" ? "" : ` ${current}`}`);
    const sort = token(aria("sort"), /^(ascending|descending|other)$/);
    if (sort) states.push(`sorted ${sort}`);
    if (aria("haspopup") && aria("haspopup") !== "false") states.push("opens a popup");
    const value = aria("valuetext") ?? aria("valuenow");
    if (value !== null && dom.property(element, "value") === undefined) {
      const limits = [aria("valuemin"), aria("valuemax")];
      const range = limits.every((limit) => limit !== null && /^-?[\d.]{1,12}$/.test(limit));
      states.push(`value ${quote(value, 60)}${range ? ` (${limits.join(" to ")})` : ""}`);
    }
    const href = dom.localName(element) === "a" ? dom.getAttribute(element, "href") : null;
    if (href?.startsWith("#")) states.push(`to ${quote(href, 60)}`);
    return states;
  };
  const statesOf = (element: PageElement): string[] => {
    const states = [...ariaStates(element), ...fieldStates(element)];
    if (isScrollable(element, dom.computedStyle(element))) {
      const top = Math.round(dom.scrollTop(element));
      states.push(`shows ${top} to ${top + dom.clientHeight(element)} of ${dom.scrollHeight(element)} px`);
    }
    if (dom.matches(element, ":focus") && element !== dom.body(document)) states.push("focused");
    return states;
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
      ...statesOf(element),
    ].join(" ");
  };
  const iconOf = (element: PageElement): string => {
    const parts = [element, ...dom.querySelectorAll(element, "svg, use, img, i, span")].slice(0, 6);
    const words = parts.flatMap((part) => {
      const background = /url\("?([^")]+)/.exec(dom.computedStyle(part).backgroundImage)?.[1];
      const file =
        dom.getAttribute(part, "src") ?? (background?.startsWith("data:") ? undefined : background);
      const name = file?.startsWith("data:") ? undefined : /([\w-]+)\.\w+(?:[?#]|$)/.exec(file ?? "")?.[1];
      const used = /#([\w-]+)$/.exec(dom.getAttribute(part, "href") ?? "")?.[1];
      const marked = dom.getAttribute(part, "data-icon") ?? dom.getAttribute(part, "data-lucide");
      const fromClass = /(?:^|[\s-])(?:icon|fa|bi|ti|mdi|lucide|ph|glyphicon|octicon)-([a-z][a-z-]+)/.exec(
        dom.getAttribute(part, "class") ?? "",
      )?.[1];
      return [marked, used, fromClass, name].filter((word) => word !== undefined && word !== null);
    });
    return words[0] ? ` icon ${quote(words[0], 40)}` : "";
  };
  const attributesOf = (element: PageElement, names: string[]): string =>
    names
      .filter((name) => dom.hasAttribute(element, name) && !(name === "value" && search.isSecret(element)))
      .map((name) => {
        const own: unknown = name === "href" || name === "src" ? dom.property(element, name) : null;
        return ` ${name} ${quote(typeof own === "string" ? own : (dom.getAttribute(element, name) ?? ""), 500)}`;
      })
      .join("");
  return { attributesOf, refOf, elementOf, purposeOf, describe, statesOf, iconOf, quote };
}
