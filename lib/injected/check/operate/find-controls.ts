import type { Dom, PageElement } from "#lib/dom/make-dom.ts";
import type { BeginningOf } from "#lib/text/whole-characters.ts";
import { describePosition } from "../describe-position.ts";
import type { DocumentWatch } from "../watch-document.ts";

/** How a control is operated: with a click, by typing, by choosing another option, or by submitting its form. */
export type ControlKind = "click" | "type" | "choose" | "submit";

/** A control of a page, as a visitor can operate it. */
export type Control = {
  kind: ControlKind;
  /** Keys that identify the element in other loads of the page, with and without the variant; strongest first. */
  keys: string[];
  /** Role and name, for sentences. */
  label: string;
  /** A selector that matches only the control. Null inside a closed shadow root. */
  selector: string | null;
  /** The change that altered or inserted the control, an element around it, or an element inside it. */
  changeId: string | null;
  /** Distance from the nearest changed element: 0 inside of it, 1 around it or for it, more for its surroundings. */
  rank: number;
  /** Address of a link. */
  href: string | null;
};

/** A control with its element in the document of one load. */
export type FoundControl = Control & { element: PageElement };

/** Finds and identifies elements. It is created once for each document. */
export type ControlFinder = {
  /**
   * Lists the controls of the page, nearest to the changes first.
   *
   * @param hasDistantFields whether fields far from the changes are listed, too. Only a script of the variant can affect
   * typing into them.
   */
  list: (hasDistantFields: boolean) => FoundControl[];
  /** Returns the keys of an element, strongest first. */
  keysOf: (element: PageElement) => string[];
  labelOf: (element: PageElement) => string;
  /** The element around this one, also across the border of a shadow root. */
  parentOf: (element: PageElement) => PageElement | null;
  /** Whether `outer` is `inner` or around it, also across the borders of shadow roots. */
  isWithin: (outer: PageElement, inner: PageElement) => boolean;
};

/**
 * Creates a {@link ControlFinder}.
 *
 * @param dangerous source of a regular expression for links that may have side effects, which are not operated.
 */
export function makeControlFinder(
  dom: Dom,
  watch: DocumentWatch,
  dangerous: string,
  beginningOf: BeginningOf,
): ControlFinder {
  const CONTROLS_MAX = 300;
  const CHANGED_MAX = 20;
  const RANK_MAX = 9;
  const CLICKABLE =
    "button, summary, label, a, input, select, textarea, form, [role=button], [role=tab], [role=menuitem], [role=switch], [role=checkbox], [role=radio], [aria-expanded], [aria-haspopup], [popovertarget], [onclick], [contenteditable]";
  const OPENERS = "[aria-expanded], [aria-haspopup], [aria-controls], [popovertarget], [commandfor], summary";
  const TYPED = new Set(["text", "search", "email", "tel", "url", "number", "password", ""]);
  const isDangerous = new RegExp(dangerous, "i");
  const tidy = (text: string | null | undefined, max: number) =>
    beginningOf(
      beginningOf(text ?? "", max * 4)
        .replace(/\s+/g, " ")
        .trim(),
      max,
    );
  const parentOf = (element: PageElement): PageElement | null => {
    const parent = dom.parentNode(element);
    if (dom.isElement(parent)) return parent;
    return parent ? dom.host(parent) : null;
  };
  const isWithin = (outer: PageElement, inner: PageElement): boolean => {
    for (let each: PageElement | null = inner; each; each = parentOf(each)) if (each === outer) return true;
    return false;
  };

  const contentOf = (element: PageElement): string => {
    const read = (name: string) => dom.getAttribute(element, name);
    const fields =
      dom.localName(element) === "form"
        ? dom.querySelectorAll(element, "[name]").map((field) => dom.getAttribute(field, "name"))
        : tidy(dom.textContent(element), 80);
    const names = ["type", "name", "role", "href", "action", "aria-label", "placeholder", "value"];
    return JSON.stringify([dom.localName(element), fields, ...names.map(read)]).slice(0, 400);
  };
  const newKeys = () => {
    const kit = watch.newKit();
    const isBuilt = (element: PageElement) => watch.verifier.isBuilt(kit, element);
    return (element: PageElement): string[] => {
      const id = dom.id(element);
      const content = contentOf(element);
      const place = isBuilt(element) ? [] : [`place:${describePosition(element, isBuilt)}`];
      return [
        ...(id === "" ? [] : [`id:${dom.localName(element)}#${id}`]),
        ...place.map((each) => `both:${each} ${content}`),
        `content:${content}`,
        ...place,
      ];
    };
  };

  const labelOf = (element: PageElement): string => {
    const kit = watch.newKit();
    const name = tidy(kit.nameOf(element) || dom.textContent(element), 60);
    const role = kit.roleOf(element) ?? dom.localName(element);
    if (name !== "") return `the ${role} "${name}"`;
    return `the ${role} ${tidy(kit.selectorOf(element), 80)}`.trim();
  };

  const property = (element: PageElement, name: string): unknown => dom.property(element, name);
  const typeOf = (element: PageElement) => String(property(element, "type") ?? "");
  const formOf = (element: PageElement) => property(element, "form") ?? null;
  const isToggled = (field: unknown) =>
    field instanceof HTMLInputElement && /checkbox|radio/.test(field.type);
  const isLeaving = (element: PageElement): boolean => {
    const href = dom.getAttribute(element, "href");
    if (href === null || dom.localName(element) !== "a") return false;
    const url = URL.parse(href, document.baseURI);
    const target = dom.getAttribute(element, "target") ?? "";
    if (dom.hasAttribute(element, "download") || (target !== "" && target !== "_self")) return true;
    if (!url || (url.protocol !== "javascript:" && url.origin !== location.origin)) return true;
    return isDangerous.test(`${url.pathname}${url.search} ${tidy(dom.textContent(element), 80)}`);
  };
  const kindOf = (element: PageElement): ControlKind | null => {
    const name = dom.localName(element);
    const type = typeOf(element);
    if (name === "form") return "submit";
    if (name === "textarea" || (name === "input" && TYPED.has(type))) return "type";
    if (dom.isContentEditable(element)) return dom.hasAttribute(element, "contenteditable") ? "type" : null;
    if (name === "select") return "choose";
    if (name === "label") return isToggled(property(element, "control")) ? "click" : null;
    if (name === "input" && !["button", "checkbox", "radio", "submit", "image", "reset"].includes(type))
      return null;
    // A submit button is operated with its form.
    const submits = (name === "button" && type === "submit") || type === "image" || type === "submit";
    if (submits && (name === "button" || name === "input") && formOf(element) !== null) return null;
    return isLeaving(element) ? null : "click";
  };
  const isOperable = (kit: ReturnType<DocumentWatch["newKit"]>, element: PageElement, kind: ControlKind) =>
    kind === "submit"
      ? dom.checkVisibility(element)
      : kit.isVisible(element) && !dom.matches(element, ":disabled, [readonly], [inert], [inert] *");

  const list = (hasDistantFields: boolean): FoundControl[] => {
    const kit = watch.newKit();
    const keysOf = newKeys();
    const changed = watch.changes.flatMap((change) => {
      const elements = new Set([
        ...watch.verifier.touched(kit, change),
        ...watch.verifier.subjects(kit, change),
      ]);
      return [...elements].slice(0, CHANGED_MAX).map((element) => {
        const levels = new Map<PageElement, number>();
        for (let each: PageElement | null = element; each; each = parentOf(each))
          levels.set(each, levels.size);
        return { id: change.id, element, levels };
      });
    });
    const rankOf = (element: PageElement): { rank: number; changeId: string | null } => {
      let best: { rank: number; changeId: string | null } = { rank: RANK_MAX, changeId: null };
      const controlled = (dom.getAttribute(element, "aria-controls") ?? "").split(/\s+/);
      for (const { id, element: subject, levels } of changed) {
        let rank = RANK_MAX;
        if (isWithin(subject, element)) rank = 0;
        else if (levels.has(element)) rank = 1;
        else if ([...levels.keys()].some((each) => dom.id(each) !== "" && controlled.includes(dom.id(each))))
          rank = 1;
        else
          for (let each = parentOf(element); each; each = parentOf(each)) {
            const level = levels.get(each);
            if (level !== undefined) {
              rank = 1 + level;
              break;
            }
          }
        if (rank < best.rank) best = { rank: Math.min(rank, RANK_MAX), changeId: rank <= 1 ? id : null };
      }
      return best;
    };
    const elements = new Set(kit.queryAll(CLICKABLE));
    // Listeners cannot be listed here. A pointer, or the name of a custom element, says that an element is clickable.
    for (const { element } of changed)
      for (const each of [element, ...dom.querySelectorAll(element, "*").slice(0, CONTROLS_MAX)]) {
        const parent = parentOf(each);
        const isPointer = (which: PageElement | null) =>
          which !== null && dom.computedStyle(which).cursor === "pointer";
        const isInControl = dom.closest(each, "a, button, label, summary, [role=button]") !== null;
        if (!isInControl && (dom.localName(each).includes("-") || (isPointer(each) && !isPointer(parent))))
          elements.add(each);
      }
    const found = [...elements].slice(0, CONTROLS_MAX).flatMap((element): FoundControl[] => {
      const kind = kindOf(element);
      if (kind === null || !isOperable(kit, element, kind)) return [];
      const { rank, changeId } = rankOf(element);
      // A label only passes its click on, and typing changes little elsewhere.
      const isField = kind === "type" || kind === "choose";
      if (rank > 1 && (dom.localName(element) === "label" || (isField && !hasDistantFields))) return [];
      const href = dom.localName(element) === "a" ? dom.getAttribute(element, "href") : null;
      return [{ kind, keys: keysOf(element), label: "", selector: null, changeId, rank, href, element }];
    });
    const counts = new Map<string, number>();
    for (const control of found) {
      if (control.rank > 0) continue;
      const family = `nth:${control.changeId}:${control.kind}:${dom.localName(control.element)}`;
      const index = counts.get(family) ?? 0;
      counts.set(family, index + 1);
      control.keys.push(`${family}:${index}`);
    }
    const weightOf = ({ rank, element, kind }: FoundControl) =>
      rank * 4 + (kind === "submit" ? 2 : dom.matches(element, OPENERS) ? 0 : 1);
    return found.toSorted((left, right) => weightOf(left) - weightOf(right));
  };
  return { list, keysOf: (element) => newKeys()(element), labelOf, parentOf, isWithin };
}
