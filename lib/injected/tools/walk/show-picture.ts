import type { PageElement } from "#lib/dom/make-dom.ts";
import type { Line } from "../../page-kit/line-writer.ts";
import type { PageKit } from "../../page-kit/page-kit.ts";
import type { Context, Walker } from "./walker.ts";

/** A larger picture is no icon. In CSS pixels. */
const ICON_PX_MAX = 48;

/** Writes a picture or a canvas. A picture without a name may be an icon; otherwise an svg counts as decoration. */
export function showPicture(walker: Walker, element: PageElement, into: Line[], context: Context): void {
  const { kit, lines } = walker;
  const { dom } = kit;
  const isCanvas = element instanceof HTMLCanvasElement;
  if (isCanvas ? dom.closest(element, "[aria-hidden=true]") : context.isTextWritten) return;
  const name = kit.nameOf(element);
  if (!name && dom.localName(element) === "svg") {
    showIcon(walker, element, into, context);
    return;
  }
  lines.flush(into);
  const { width, height } = dom.getBoundingClientRect(element);
  const missing = isCanvas ? ` ${Math.round(width)}×${Math.round(height)}` : " without alt";
  const source = !name && element instanceof HTMLImageElement ? kit.iconOf(element) : "";
  const ref = isCanvas ? ` [${kit.refOf(element)}]` : "";
  lines.put(
    into,
    `${isCanvas ? "canvas" : "img"}${name ? ` ${kit.quote(name, 160)}` : missing}${ref}${source}`,
    false,
  );
}

/**
 * Writes what an icon shows, as in `icon "check"`, if something names it. In a list item or cell, where a check and a
 * cross may be the only difference, the icon's class or a number for its shape is the last resort. An icon of a control
 * is left out.
 */
export function showIcon({ kit, lines }: Walker, icon: PageElement, into: Line[], context: Context): void {
  if (context.isTextWritten || context.hasPointer) return;
  const { width, height } = kit.dom.getBoundingClientRect(icon);
  if (width < 3 || height < 3 || width > ICON_PX_MAX || height > ICON_PX_MAX) return;
  const text = (context.isInItem ? kit.iconOrClassOf(icon) : kit.iconOf(icon)).trim();
  if (!text) return;
  lines.flush(into);
  lines.put(into, text, false);
}

/**
 * Whether an element is an icon without a text: an empty element of an icon font, or, in a list item or cell, a picture
 * with an empty alternative text.
 */
export function isIcon({ dom }: PageKit, element: PageElement, { isInItem }: Context): boolean {
  const tag = dom.localName(element);
  if (tag === "img") return isInItem && dom.getAttribute(element, "alt") === "";
  if (tag !== "i" && tag !== "span" && tag !== "em" && tag !== "b" && !/-icon$|^icon-/.test(tag))
    return false;
  return dom.firstChild(element) === null && (dom.hasAttribute(element, "class") || tag.includes("icon"));
}
