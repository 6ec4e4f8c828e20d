import type { PageElement } from "#lib/dom/make-dom.ts";
import type { Line } from "../../page-kit/line-writer.ts";
import type { PageKit } from "../../page-kit/page-kit.ts";
import { type Context, hasControls, type Walker } from "./walker.ts";

/** Elements with which editors format text. Other elements, such as the words of a code editor, have only colors. */
const FORMATTING = "b, strong, i, em, u, ins, code, kbd, mark, sub, sup, span[style]";

/** Whether an editor contains text that is formatted differently from the text around it. */
export const hasFormatted = (kit: PageKit, editor: PageElement): boolean =>
  kit.dom.querySelectorAll(editor, FORMATTING).some((element) => formatsOf(kit, element).length > 0);

/**
 * Writes formatted text of an editor with its format, such as `bold "today"`.
 * @returns false if the element is no such text, or if it contains controls.
 */
export function showFormatted(
  { kit, lines }: Walker,
  element: PageElement,
  into: Line[],
  { isInEditor, isTextWritten }: Context,
): boolean {
  if (!isInEditor || isTextWritten || hasControls(kit, element)) return false;
  const formats = allFormatsOf(kit, element);
  const content = formats.length > 0 ? kit.contentOf(element) : "";
  if (!content) return false;
  lines.flush(into);
  lines.put(into, `${formats.join(" ")} ${kit.quote(content, 500)}`, false);
  return true;
}

/** The formats of an element, and of elements inside it that have the same text. */
function allFormatsOf(kit: PageKit, element: PageElement): string[] {
  const { dom } = kit;
  const formats = formatsOf(kit, element);
  for (let outer = element; formats.length > 0; ) {
    const [inner, ...others] = dom.childNodes(outer);
    if (!inner || others.length > 0 || !dom.isElement(inner)) break;
    formats.push(...formatsOf(kit, inner));
    outer = inner;
  }
  return [...new Set(formats)];
}

/** How an element formats its text, compared with its parent. */
function formatsOf({ dom }: PageKit, element: PageElement): string[] {
  const parent = dom.parentElement(element);
  if (!parent || !dom.matches(element, FORMATTING)) return [];
  const [own, around] = [dom.computedStyle(element), dom.computedStyle(parent)];
  if (!own.display.startsWith("inline")) return [];
  const isBold = ({ fontWeight }: CSSStyleDeclaration) => Number(fontWeight) >= 600;
  const isItalic = ({ fontStyle }: CSSStyleDeclaration) => fontStyle !== "normal";
  return [
    ...(isBold(own) && !isBold(around) ? ["bold"] : []),
    ...(isItalic(own) && !isItalic(around) ? ["italic"] : []),
    ...(own.textDecorationLine.includes("underline") ? ["underlined"] : []),
    ...(own.textDecorationLine.includes("line-through") ? ["struck"] : []),
    ...(dom.matches(element, "code, kbd") ? ["code"] : []),
    ...(dom.matches(element, "mark") ? ["marked"] : []),
    ...(own.verticalAlign === "super" ? ["superscript"] : []),
    ...(own.verticalAlign === "sub" ? ["subscript"] : []),
  ];
}
