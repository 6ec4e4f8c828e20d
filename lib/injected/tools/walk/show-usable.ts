import type { PageElement } from "#lib/dom/make-dom.ts";
import type { Line } from "../../page-kit/line-writer.ts";
import type { PageKit } from "../../page-kit/page-kit.ts";
import { hasFormatted } from "./show-formatted.ts";
import { type Context, hasControls, REF, type Walker } from "./walker.ts";

/** An element that people can use. `use` is how, and `role` its ARIA role. */
type Usable = { element: PageElement; role: string | null; use: string };

/** Roles of fields. What such an element contains is its value, not its name. */
const FIELD_ROLES = new Set(["combobox", "textbox", "searchbox", "spinbutton"]);
const CLICK_HANDLERS = "[onclick], [ondblclick], [onmousedown], [onmouseup], [onpointerdown], [onpointerup]";
/** A longer content gets lines of its own. */
const LINE_CHARS_MAX = 120;

/** Writes an element that people can use, with its name, states, value and, if it has any, the controls inside it. */
export function showUsable(walker: Walker, usable: Usable, into: Line[], context: Context): void {
  const { kit, lines } = walker;
  lines.flush(into);
  if (isField(kit, usable)) showField(walker, usable, into, context);
  else showControl(walker, usable, into, context);
}

function showControl(walker: Walker, usable: Usable, into: Line[], context: Context): void {
  const { kit, lines, attributes } = walker;
  const { element, use } = usable;
  const content = kit.contentOf(element);
  const name = kit.nameOf(element) || (content.length <= LINE_CHARS_MAX ? content : "");
  if (use === "focusable" && !name && !content && isTiny(kit, element)) return;
  const isLong = needsLines(kit, usable, content, name);
  const hasHint = !name && !content && use !== "scrollable";
  const hint = hasHint ? kit.iconOf(element) || kit.hintOf(element) : "";
  // A container is named by what it contains.
  const shownName = isLong && content.includes(name) ? "" : name;
  const writeLabel = () =>
    kit.describe(element, headOf(kit, usable) + hint, shownName, kit.refOf(element)) +
    kit.attributesOf(element, attributes, name);
  const inside = { ...context, isTextWritten: context.isTextWritten || !isLong, hasPointer: true };
  if (!isLong) {
    lines.put(into, writeLabel(), false);
    walker.visitChildren(element, into, inside);
    return;
  }
  const line = lines.put(into, "", true);
  walker.visitChildren(element, line.inside, inside);
  lines.flush(line.inside);
  if (isAroundControl(kit, usable, line.inside)) into.splice(-1, 1, ...line.inside);
  else if (use === "scrollable" && line.inside.length === 0 && kit.dom.matches(element, "[aria-hidden=true]"))
    into.pop();
  else line.text = writeLabel();
}

/** Whether what is inside an element gets lines of its own, because it has controls, much text, or text in addition to its name. */
function needsLines(kit: PageKit, { element, role, use }: Usable, content: string, name: string): boolean {
  // Whether the element is a tree item or menu item that contains controls or further items.
  const isComposite =
    (role === "treeitem" || role === "menuitem") &&
    (hasControls(kit, element) ||
      kit.dom.querySelector(element, "ul, ol, [role=group], [role=menu]") !== null);
  return (
    isComposite ||
    use === "scrollable" ||
    content.length > LINE_CHARS_MAX ||
    (use !== "control" && (hasControls(kit, element) || !name.includes(content)))
  );
}

/**
 * Whether an element only has the pointer cursor because of the one control that it contains. Its own line would say
 * nothing.
 */
function isAroundControl({ dom }: PageKit, { element, use }: Usable, inside: Line[]): boolean {
  if (use !== "clickable" || dom.matches(element, CLICK_HANDLERS)) return false;
  const controls = inside.filter((line) => REF.test(line.text));
  const [control] = controls;
  const isOnly = control !== undefined && control.text.split(REF).length === 2 && control.inside.length === 0;
  return (
    controls.length === 1 &&
    isOnly &&
    inside.every((line) => line === control || /^img /.test(line.text)) &&
    !/^"|\] "/.test(control.text)
  );
}

/** Libraries put empty elements of this kind around what they draw, to notice when the focus leaves it. */
function isTiny({ dom }: PageKit, element: PageElement): boolean {
  const { width, height } = dom.getBoundingClientRect(element);
  return width < 3 || height < 3;
}

const isNative = ({ dom }: PageKit, element: PageElement) => dom.matches(element, "input, select, textarea");

const isField = (kit: PageKit, { element, role }: Usable): boolean =>
  isNative(kit, element) ||
  FIELD_ROLES.has(role ?? "") ||
  kit.dom.matches(element, "[contenteditable]:not([contenteditable=false])");

function headOf({ dom }: PageKit, { element, role, use }: Usable): string {
  if (role !== null && role !== "generic" && use === "control") return role;
  return dom.localName(element) === "summary" ? "summary" : use;
}

/** Writes a field with its value: a native one, one that a library draws, or an editor with its text as lines. */
function showField(walker: Walker, usable: Usable, into: Line[], context: Context): void {
  const { kit, lines, attributes } = walker;
  const { element } = usable;
  const name = kit.nameOf(element);
  const hint = name ? "" : kit.hintOf(element);
  const label =
    kit.describe(element, headOf(kit, usable) + hint, name, kit.refOf(element)) +
    kit.attributesOf(element, attributes, name);
  if (isNative(kit, element)) {
    const drawn = walker.drawn.get(element);
    const shown = drawn
      ? ` ${drawn.isPlaceholder ? "placeholder" : "value"} ${kit.quote(drawn.text, 120)}`
      : "";
    lines.put(into, label + shown, false);
    return;
  }
  const content = kit.contentOf(element);
  if (hasStructure(kit, element, content)) {
    const line = lines.put(into, label, true);
    const isInEditor = kit.dom.isContentEditable(element);
    walker.visitChildren(element, line.inside, { ...context, hasPointer: true, isInEditor });
    lines.flush(line.inside);
    return;
  }
  const isWritten = context.isTextWritten && !context.isTransparent;
  const value = isWritten ? "" : describeValue(kit, usable, content, name);
  lines.put(into, label + value, false);
}

/** Whether the content of a field has several blocks, formats, controls or a long text, so that it gets lines of its own. */
function hasStructure(kit: PageKit, element: PageElement, content: string): boolean {
  const { dom } = kit;
  const blocks = dom.querySelectorAll(
    element,
    "p, div, li, h1, h2, h3, h4, h5, h6, pre, blockquote, table, img",
  );
  return (
    (dom.isContentEditable(element) && hasFormatted(kit, element)) ||
    content.length > LINE_CHARS_MAX ||
    (blocks.length > 1 && content !== "") ||
    hasControls(kit, element)
  );
}

function describeValue({ dom, quote }: PageKit, { element }: Usable, content: string, name: string): string {
  const hinted = dom.querySelector(element, "[data-placeholder]") ?? element;
  const placeholder = dom.getAttribute(hinted, "data-placeholder");
  if (content === "") return placeholder ? ` placeholder ${quote(placeholder, 80)}` : "";
  const system = dom.getAttribute(element, "aria-valuetext") ?? dom.getAttribute(element, "aria-valuenow");
  // The states have the value already.
  if (system !== null) return system === content ? "" : ` shows ${quote(content, 60)}`;
  if (content === name && !dom.isContentEditable(element)) return "";
  // Libraries mark an element whose text is a hint, such as "Select a fruit".
  const isHint = placeholder !== null && (placeholder === "" || placeholder === content);
  return ` ${isHint ? "placeholder" : "value"} ${quote(content, 500)}`;
}
