import type { PageElement } from "#lib/dom/make-dom.ts";
import type { Line } from "../page-kit/line-writer.ts";
import type { PageKit } from "../page-kit/page-kit.ts";
import { findDrawnValues } from "./walk/find-drawn-values.ts";
import { showFormatted } from "./walk/show-formatted.ts";
import { arrangeGrid, showRow } from "./walk/show-grid.ts";
import { isIcon, showIcon, showPicture } from "./walk/show-picture.ts";
import { showUsable } from "./walk/show-usable.ts";
import { type Context, hasControls, SKIPPED, type Walker } from "./walk/walker.ts";

/** One line of a frame's snapshot; `frame` is the ref of an iframe whose content belongs below the line. */
export type SnapshotLine = { depth: number; text: string; frame?: string };

/** `attributes` are the names of the attributes to show with each element that people can use. */
type WalkOptions = { linesMax: number; attributes: string[] };

const LANDMARKS = new Set(
  "banner navigation main contentinfo complementary region form search dialog alertdialog alert status list table grid treegrid group radiogroup tablist tabpanel menu menubar toolbar tree figure article feed log tooltip".split(
    " ",
  ),
);
/** Roles of containers that get a line only if they have a name. */
const NAMED_ONLY = new Set("region form group figure article tabpanel status alert log".split(" "));
/** Fields that people can use although they are transparent. */
const FIELDS =
  "input, select, textarea, [contenteditable]:not([contenteditable=false]), [role=textbox], [role=searchbox], [role=combobox], [role=spinbutton], [role=slider], [role=checkbox], [role=switch], [role=radio]";

const PLAIN_ITEMS_MAX = 100;
const NO_MARKER = { text: "", icon: "" };

/**
 * Writes a frame as lines of text and controls in reading order. All text from the page is quoted, so that no page can
 * forge a line.
 */
export function walkPage(
  kit: PageKit,
  { linesMax, attributes }: WalkOptions,
): { lines: SnapshotLine[]; total: number } {
  const lines = readLines(kit, attributes);
  const written: SnapshotLine[] = [];
  let total = 0;
  const write = (list: Line[], depth: number) => {
    for (const { text, frame, inside } of list) {
      total++;
      if (written.length < linesMax) written.push({ depth, text, ...(frame !== undefined && { frame }) });
      write(inside, depth + 1);
    }
  };
  write(lines, 0);
  return { lines: written, total };
}

function readLines(kit: PageKit, attributes: string[]): Line[] {
  const { dom, isUnrendered, isFolded, childrenOf, hiddenFieldOf } = kit;
  const writer = kit.newLines();
  const { put, addText, flush, breakLine } = writer;

  const visitChildren: Walker["visitChildren"] = (element, into, context) => {
    // The text of an editor that a person has filled during a handover is its value.
    if (kit.isSecret(element)) return;
    for (const child of childrenOf(element)) {
      if (child instanceof Text) {
        if (!context.isTextWritten) addText(child.data);
      } else if (dom.isElement(child)) visit(child, into, context);
    }
  };
  const { drawn, wrappers } = findDrawnValues(kit);
  const walker: Walker = { kit, lines: writer, attributes, drawn, visitChildren };

  const visit = (element: PageElement, into: Line[], around: Context): void => {
    if (dom.matches(element, SKIPPED) || isFolded(element)) return;
    const style = dom.computedStyle(element);
    if (isUnrendered(element, style)) return;
    const isTransparent = around.isTransparent || kit.isTransparent(element, style);
    const context = isTransparent ? { ...around, isTransparent, isTextWritten: true } : around;
    const isBlock = !/^(inline|contents|ruby)/.test(style.display) || dom.localName(element) === "br";
    const breakBlock = () => {
      flush(into);
      breakLine(into);
    };
    // A term and its definition share one line.
    const previous = dom.localName(element) === "dd" ? dom.previousElementSibling(element) : null;
    const isDefinition = previous !== null && dom.localName(previous) === "dt";
    if (isDefinition) flush(into);
    else if (isBlock) breakBlock();
    const isSeen = style.visibility === "visible" && (!isTransparent || isUsableField(element, style));
    const isShown = isSeen && show(element, style, into, context);
    if (!isShown) {
      const inner = { ...context, isTextWritten: context.isTextWritten || !isSeen };
      visitChildren(element, into, { ...inner, hasPointer: style.cursor === "pointer" });
    }
    if (dom.localName(element) === "dt") flush(into);
    else if (isBlock) breakBlock();
  };
  /** Whether people can use a field that they do not see, for example because its label is over it. */
  const isUsableField = (element: PageElement, style: CSSStyleDeclaration): boolean =>
    dom.matches(element, FIELDS) &&
    style.pointerEvents !== "none" &&
    !dom.closest(element, "[aria-hidden=true]");
  /**
   * Writes an element and its content if the element has a description of its own, such as a control or a heading.
   * @returns false if the caller must write the content of the element.
   */
  const show = (
    element: PageElement,
    style: CSSStyleDeclaration,
    into: Line[],
    context: Context,
  ): boolean => {
    const role = kit.roleOf(element);
    if (element instanceof HTMLIFrameElement || dom.localName(element) === "frame") {
      flush(into);
      const title = dom.getAttribute(element, "title") ?? dom.getAttribute(element, "name") ?? "";
      const line = put(into, kit.describe(element, "frame", title.trim(), null), true);
      line.frame = kit.refOf(element);
      return true;
    }
    if (role === "img" || element instanceof HTMLCanvasElement) {
      showPicture(walker, element, into, context);
      return true;
    }
    if (element instanceof HTMLLabelElement && element.control) return showLabel(element, into, context);
    if (dom.matches(element, "s, del, strike") && !hasControls(kit, element)) {
      const content = kit.contentOf(element);
      flush(into);
      if (content && !context.isTextWritten) put(into, `struck ${kit.quote(content, 160)}`, false);
      return true;
    }
    if (showFormatted(walker, element, into, context)) return true;
    if (role === "row" && showRow(walker, element, style, into, context)) return true;
    if (wrappers.has(element)) {
      // The line of the field shows the text in the wrapper as the value of the field.
      visitChildren(element, into, { ...context, isTextWritten: true, hasPointer: true });
      return true;
    }
    const use = kit.purposeOf(element, role, style, context.hasPointer);
    const isStructure = (use === "focusable" || use === "scrollable") && LANDMARKS.has(role ?? "");
    if (use !== null && !isStructure) {
      showUsable(walker, { element, role, use }, into, context);
      return true;
    }
    if (isIcon(kit, element, context)) showIcon(walker, element, into, context);
    return showStructure(element, role, into, context, isStructure);
  };
  const showLabel = (label: HTMLLabelElement, into: Line[], context: Context): boolean => {
    const hiddenField = hiddenFieldOf(label);
    if (!hiddenField) {
      // The line of the field already shows the label's text as the name of the field.
      visitChildren(label, into, { ...context, isTextWritten: true, hasPointer: true });
      return true;
    }
    flush(into);
    const head = kit.roleOf(hiddenField) ?? "field";
    const states = kit.statesOf(hiddenField, true).join(" ");
    const name = kit.quote(kit.nameOf(hiddenField), 160);
    put(into, `${head} ${name} [${kit.refOf(label)}]${states && ` ${states}`}`, false);
    return true;
  };
  /**
   * Writes a caption, a heading, a list item or a container.
   * @param isUsable whether people can scroll the container, or use it with the keyboard.
   * @returns false for any other element.
   */
  const showStructure = (
    element: PageElement,
    role: string | null,
    into: Line[],
    context: Context,
    isUsable: boolean,
  ): boolean => {
    const isCaption = dom.matches(element, "table > caption, fieldset > legend, figure > figcaption");
    const captioned = isCaption ? dom.parentElement(element) : null;
    if (captioned && kit.nameOf(captioned)) {
      // The line of the container already shows the caption as the container's name.
      visitChildren(element, into, { ...context, isTextWritten: true });
      return true;
    }
    if (role === "heading") {
      flush(into);
      put(into, kit.describe(element, role, kit.nameOf(element), null), true);
      visitChildren(element, into, { ...context, isTextWritten: true });
      return true;
    }
    if (role === "listitem") return showItem(element, into, context);
    if (role === null || !LANDMARKS.has(role)) return false;
    const name = kit.nameOf(element);
    if (!name && !isUsable && NAMED_ONLY.has(role)) return false;
    flush(into);
    const line = put(into, "", true);
    visitChildren(element, line.inside, { ...context, hasPointer: false });
    flush(line.inside);
    const counts = /grid$|^table$/.test(role) ? arrangeGrid(walker, element, line) : "";
    const head = counts ? `${role} ${counts}` : role;
    line.text = kit.describe(element, head, name, isUsable ? kit.refOf(element) : null);
    if (line.inside.length === 0) into.splice(into.indexOf(line), 1);
    return true;
  };
  /** How many of the last items had no marker. After many of them no more are read, because reading one is slow. */
  let plainItems = 0;
  const readMarker = (item: PageElement) => {
    const marker = plainItems < PLAIN_ITEMS_MAX ? kit.markerOf(item) : NO_MARKER;
    plainItems = marker.text || marker.icon ? 0 : plainItems + 1;
    return marker;
  };
  const showItem = (element: PageElement, into: Line[], context: Context): boolean => {
    const inside: Line[] = [];
    const marker = context.isTextWritten ? NO_MARKER : readMarker(element);
    if (marker.text) addText(`${marker.text} `);
    if (marker.icon) put(inside, marker.icon, false);
    visitChildren(element, inside, { ...context, hasPointer: false, isInItem: true });
    flush(inside);
    const [icon, next] = inside;
    // An icon belongs to the text after it.
    if (icon && next && /^icon /.test(icon.text) && /^"/.test(next.text))
      inside.splice(0, 2, { ...next, text: `${icon.text} ${next.text}` });
    const [first, ...rest] = inside;
    if (!first) return true;
    into.push({ ...first, text: `• ${first.text}`, isOpen: false, inside: [...first.inside, ...rest] });
    return true;
  };

  const lines: Line[] = [];
  const body = dom.body(document);
  if (body)
    visit(body, lines, {
      isTextWritten: false,
      hasPointer: false,
      isTransparent: false,
      isInItem: false,
      isInEditor: false,
    });
  flush(lines);
  return lines;
}
