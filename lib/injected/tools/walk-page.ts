import type { PageElement } from "#lib/dom/make-dom.ts";
import type { Line } from "../page-kit/line-writer.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/** One line of a frame's snapshot; `frame` is the ref of an iframe whose content belongs below the line. */
export type SnapshotLine = { depth: number; text: string; frame?: string };

/** `attributes` are the names of the attributes to show with each element that people can use. */
type WalkOptions = { linesMax: number; attributes: string[] };

/**
 * Writes a frame as lines of text and controls in reading order. All text from the page is quoted, so that no page can
 * forge a line.
 */
export function walkPage(
  kit: PageKit,
  { linesMax, attributes }: WalkOptions,
): { lines: SnapshotLine[]; total: number } {
  const skipped =
    "script, style, noscript, template, head, datalist, option, optgroup, title, [data-agent-session-overlay]";
  const landmarks = new Set(
    "banner navigation main contentinfo complementary region form search dialog alertdialog alert status list table grid treegrid group radiogroup tablist tabpanel menu menubar toolbar tree figure article feed log tooltip".split(
      " ",
    ),
  );
  /** Roles of containers that get a line only if they have a name. */
  const namedOnly = new Set([
    "region",
    "form",
    "group",
    "figure",
    "article",
    "tabpanel",
    "status",
    "alert",
    "log",
  ]);
  const { put, addText, flush, breakLine, flatten } = kit.newLines();
  const { dom, isUnrendered, isFolded, childrenOf, hiddenFieldOf } = kit;

  type Context = { isTextWritten: boolean; hasPointer: boolean };
  const visitChildren = (element: PageElement, into: Line[], context: Context) => {
    for (const child of childrenOf(element)) {
      if (child instanceof Text) {
        if (!context.isTextWritten) addText(child.data);
      } else if (dom.isElement(child)) visit(child, into, context);
    }
  };
  const visit = (element: PageElement, into: Line[], context: Context): void => {
    if (dom.matches(element, skipped) || isFolded(element)) return;
    const style = dom.computedStyle(element);
    if (isUnrendered(element, style)) return;
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
    const isSeen = style.visibility === "visible";
    const isShown = isSeen && show(element, style, into, context);
    if (!isShown) {
      const inner = { ...context, isTextWritten: context.isTextWritten || !isSeen };
      visitChildren(element, into, { ...inner, hasPointer: style.cursor === "pointer" });
    }
    if (dom.localName(element) === "dt") flush(into);
    else if (isBlock) breakBlock();
  };
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
    if (role === "img" || element instanceof HTMLCanvasElement) return showPicture(element, into, context);
    if (element instanceof HTMLLabelElement && element.control) {
      const hiddenField = hiddenFieldOf(element);
      if (!hiddenField) {
        // The line of the field already shows the label's text as the name of the field.
        visitChildren(element, into, { ...context, isTextWritten: true });
        return true;
      }
      flush(into);
      const head = kit.roleOf(hiddenField) ?? "field";
      const states = kit.statesOf(hiddenField).join(" ");
      put(
        into,
        `${head} ${kit.quote(kit.nameOf(hiddenField), 160)} [${kit.refOf(element)}]${states && ` ${states}`}`,
        false,
      );
      return true;
    }
    if (dom.matches(element, "s, del, strike") && !hasControls(element)) {
      const content = kit.contentOf(element);
      flush(into);
      if (content && !context.isTextWritten) put(into, `struck ${kit.quote(content, 160)}`, false);
      return true;
    }
    const use = kit.purposeOf(element, role, style, context.hasPointer);
    if (use !== null) {
      showUsable(element, role, use, into, context);
      return true;
    }
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
    if (role === "row") return showRow(element, style, into, context);
    if (role === "listitem") return showItem(element, into, context);
    if (!landmarks.has(role ?? "")) return false;
    const name = kit.nameOf(element);
    if (!name && namedOnly.has(role ?? "")) return false;
    flush(into);
    showContainer(element, kit.describe(element, role ?? "", name, null), into, context);
    return true;
  };
  const showContainer = (element: PageElement, head: string, into: Line[], context: Context) => {
    const line = put(into, head, true);
    visitChildren(element, line.inside, { ...context, hasPointer: false });
    flush(line.inside);
    if (line.inside.length === 0) into.splice(into.indexOf(line), 1);
  };
  const showUsable = (
    element: PageElement,
    role: string | null,
    use: string,
    into: Line[],
    context: Context,
  ) => {
    flush(into);
    const head =
      role !== null && role !== "generic" && use === "control"
        ? role
        : dom.localName(element) === "summary"
          ? "summary"
          : use;
    const isField =
      dom.matches(element, "input, select, textarea") || role === "combobox" || role === "textbox";
    const content = isField ? "" : kit.contentOf(element);
    const name = kit.nameOf(element) || (content.length <= 120 ? content : "");
    // Whether the element is a tree item or menu item that contains controls or further items.
    const isComposite =
      (role === "treeitem" || role === "menuitem") &&
      (hasControls(element) || dom.querySelector(element, "ul, ol, [role=group], [role=menu]") !== null);
    const isLong =
      !isField &&
      (isComposite ||
        use === "scrollable" ||
        content.length > 120 ||
        (use !== "control" && hasControls(element)));
    const icon = name || content ? "" : kit.iconOf(element);
    const label =
      kit.describe(element, head + icon, isLong ? "" : name, kit.refOf(element)) +
      kit.attributesOf(element, attributes);
    const inside = { isTextWritten: context.isTextWritten || !isLong, hasPointer: true };
    if (!isLong) {
      put(into, label, false);
      if (content && dom.isContentEditable(element)) put(into, `value ${kit.quote(content, 500)}`, false);
      if (!isField) visitChildren(element, into, inside);
      return;
    }
    const line = put(into, label, true);
    visitChildren(element, line.inside, inside);
    flush(line.inside);
  };
  const hasControls = (element: PageElement): boolean =>
    dom.querySelector(
      element,
      "a[href], button, input, select, textarea, summary, [role=button], [tabindex]",
    ) !== null;
  const showPicture = (element: PageElement, into: Line[], context: Context): boolean => {
    if (context.isTextWritten && dom.localName(element) !== "canvas") return true;
    const name = kit.nameOf(element);
    const isCanvas = dom.localName(element) === "canvas";
    // An svg without a name counts as decoration.
    if (!name && dom.localName(element) === "svg") return true;
    flush(into);
    const { width, height } = dom.getBoundingClientRect(element);
    const missing = isCanvas ? ` ${Math.round(width)}×${Math.round(height)}` : " without alt";
    const source = !name && element instanceof HTMLImageElement ? kit.iconOf(element) : "";
    const ref = isCanvas ? ` [${kit.refOf(element)}]` : "";
    put(
      into,
      `${isCanvas ? "canvas" : "img"}${name ? ` ${kit.quote(name, 160)}` : missing}${ref}${source}`,
      false,
    );
    return true;
  };
  const showItem = (element: PageElement, into: Line[], context: Context): boolean => {
    const inside: Line[] = [];
    visitChildren(element, inside, { ...context, hasPointer: false });
    flush(inside);
    const [first, ...rest] = inside;
    if (!first) return true;
    into.push({ ...first, text: `• ${first.text}`, isOpen: false, inside: [...first.inside, ...rest] });
    return true;
  };
  const showRow = (
    element: PageElement,
    rowStyle: CSSStyleDeclaration,
    into: Line[],
    context: Context,
  ): boolean => {
    const cells: string[] = [];
    const frames: Line[] = [];
    let isHeader = true;
    const collectCells = (parent: PageElement) => {
      for (const child of childrenOf(parent)) {
        if (!dom.isElement(child) || dom.matches(child, skipped)) continue;
        const role = kit.roleOf(child);
        if (!/cell|header/.test(role ?? "")) {
          collectCells(child);
          continue;
        }
        const style = dom.computedStyle(child);
        if (isUnrendered(child, style)) continue;
        if (role !== "columnheader") isHeader = false;
        const inside: Line[] = [];
        const use = kit.purposeOf(child, null, style, context.hasPointer);
        if (use === null) visitChildren(child, inside, context);
        else showUsable(child, role, use, inside, context);
        flush(inside);
        frames.push(...inside.filter(({ frame }) => frame !== undefined));
        cells.push(
          [flatten(inside), ...(role === "columnheader" ? kit.statesOf(child) : [])].join(" ").trim(),
        );
      }
    };
    flush(into);
    collectCells(element);
    if (cells.length === 0) return false;
    const use = kit.purposeOf(element, null, rowStyle, context.hasPointer);
    const ref = use === null ? "" : `${use} [${kit.refOf(element)}] `;
    const states = kit.statesOf(element).join(" ");
    into.push({
      text: `${isHeader ? "columns " : ""}${ref}${states && `${states} `}| ${cells.join(" | ")}`.trimEnd(),
      isOpen: false,
      inside: frames,
    });
    return true;
  };

  const lines: Line[] = [];
  const body = dom.body(document);
  if (body) visit(body, lines, { isTextWritten: false, hasPointer: false });
  flush(lines);
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
