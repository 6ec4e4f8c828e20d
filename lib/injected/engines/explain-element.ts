import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";
import { ancestorsOf, findCover, findModal } from "./find-cover.ts";

/** Names an element with its role and its name, which is quoted. */
function labelOf(kit: PageKit, element: PageElement): string {
  const role = kit.roleOf(element);
  const name = kit.nameOf(element) || kit.beginningOf(kit.contentOf(element), 60);
  const localName = kit.dom.localName(element);
  const tag = /^[a-z][a-z0-9-]*$/.test(localName) ? localName : "element";
  return [role ?? tag, ...(name === "" ? [] : [kit.quote(name, 60)])].join(" ");
}

/**
 * Says which open dialog keeps people from an element. Returns an empty string if none does, or if the middle of the
 * element is not in the viewport. Does not scroll.
 */
export function explainDialog(kit: PageKit, element: PageElement): string {
  if (!kit.isVisible(element)) return "";
  const cover = findCover(kit, element);
  if (cover === "outside") return "";
  if (!cover) return explainModal(kit, element);
  return cover.isDialog ? explainCover(kit, cover.element) : "";
}

/** Says which open dialog turns off an element. Returns an empty string if none does. */
export function explainModal(kit: PageKit, element: PageElement): string {
  const modal = findModal(kit, element);
  return modal ? `it is behind ${labelOf(kit, modal)}, which is open` : "";
}

const explainCover = (kit: PageKit, cover: PageElement) => `it is covered by ${labelOf(kit, cover)}`;

/**
 * Explains briefly what prevents an action on an element, such as `it is disabled`. Returns an empty string if nothing
 * does. Names from the page are quoted.
 */
export function explainElement(kit: PageKit, element: PageElement): string {
  const { dom } = kit;
  const label = (each: PageElement) => labelOf(kit, each);
  const ancestors = (each: PageElement) => ancestorsOf(kit, each);
  const explainHidden = (): string => {
    const chain = ancestors(element);
    const details = chain.find((each) => each instanceof HTMLDetailsElement && !each.open);
    if (details && !dom.closest(element, "summary"))
      return `it is not visible: it is in a closed details ${kit.quote(kit.contentOf(dom.querySelector(details, "summary") ?? details), 60)}`;
    if (element instanceof HTMLOptionElement)
      return "it is an option of a list: use selectOption on the list instead";
    const unrendered = chain.filter((each) => dom.computedStyle(each).display === "none").at(-1);
    if (unrendered === element) return "it is not visible: display is none";
    if (unrendered) return `it is not visible: display is none for the ${label(unrendered)} around it`;
    if (dom.computedStyle(element).visibility !== "visible") return "it is not visible: visibility is hidden";
    const { width, height } = dom.getBoundingClientRect(element);
    return width === 0 || height === 0 ? "it is not visible: its size is 0" : "it is not visible";
  };
  const explainCovered = (): string => {
    dom.scrollIntoView(element, { block: "center", inline: "center", behavior: "instant" });
    const cover = findCover(kit, element);
    if (cover === "outside") return "it is outside of the viewport, and scrolling does not bring it in";
    return cover ? explainCover(kit, cover.element) : explainDialog(kit, element);
  };
  if (!kit.isVisible(element)) return explainHidden();
  const off = ancestors(element).find((each) => dom.matches(each, "[disabled], [aria-disabled=true]"));
  if (off && (dom.matches(element, ":disabled") || dom.matches(off, "[aria-disabled=true]")))
    return off === element ? "it is disabled" : `it is in a disabled ${label(off)}`;
  if ("readOnly" in element && element.readOnly === true) return "it is read-only";
  return explainCovered();
}
