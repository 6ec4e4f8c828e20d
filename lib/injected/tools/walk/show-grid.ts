import type { PageElement } from "#lib/dom/make-dom.ts";
import type { GridRow, Line } from "../../page-kit/line-writer.ts";
import type { PageKit } from "../../page-kit/page-kit.ts";
import { showUsable } from "./show-usable.ts";
import { type Context, REF, SKIPPED, type Walker } from "./walker.ts";

/** Writes a row of a table or grid with its cells on one line. @returns false if the element has no cells. */
export function showRow(
  walker: Walker,
  element: PageElement,
  style: CSSStyleDeclaration,
  into: Line[],
  context: Context,
): boolean {
  const { kit, lines } = walker;
  const cells: GridRow["cells"] = [];
  const frames: Line[] = [];
  let isHeader = true;
  lines.flush(into);
  for (const cell of findCells(kit, element)) {
    const cellStyle = kit.dom.computedStyle(cell);
    if (kit.isUnrendered(cell, cellStyle)) continue;
    if (kit.roleOf(cell) !== "columnheader") isHeader = false;
    const inside = readCell(walker, cell, cellStyle, context);
    frames.push(...inside.filter(({ frame }) => frame !== undefined));
    cells.push({ column: readIndex(kit, cell, "aria-colindex"), text: lines.flatten(inside) });
  }
  if (cells.length === 0) return false;
  const use = kit.purposeOf(element, null, style, context.hasPointer);
  const isSelectable = use === "focusable" || kit.dom.hasAttribute(element, "aria-selected");
  const kind = isSelectable ? "row" : use;
  const ref = kind === null ? "" : `${kind} [${kit.refOf(element)}] `;
  const states = kit.statesOf(element, kind !== null).join(" ");
  const head = `${isHeader ? "columns " : ""}${ref}${states && `${states} `}`;
  const index = readIndex(kit, element, "aria-rowindex");
  const row = { index, head, cells };
  into.push({ text: writeRow(row), isOpen: false, inside: frames, ...(index >= 0 && { row }) });
  return true;
}

/**
 * Sorts the rows inside the line of a grid: a grid that renders only some rows reuses their elements in any order, and
 * may render the parts of one row in several elements.
 * @returns how much of the grid is rendered, as in `5001 rows, 10 columns, 6 shown`. Empty if the grid does not say.
 */
export function arrangeGrid({ kit }: Walker, element: PageElement, line: Line): string {
  const rows = mergeRows(takeRows(line));
  line.inside.push(...rows);
  const count = (name: string, what: string) => {
    const value = readIndex(kit, element, name);
    return value >= 0 ? [`${value} ${what}`] : [];
  };
  const counts = [...count("aria-rowcount", "rows"), ...count("aria-colcount", "columns")];
  if (counts.length > 0 && rows.length > 0) counts.push(`${rows.length} shown`);
  return counts.join(", ");
}

/** Removes the rows with a known place from the lines inside a line, and returns them. */
function takeRows(line: Line): Line[] {
  const rows = line.inside.flatMap((each) => (each.row ? [each] : takeRows(each)));
  line.inside = line.inside.filter((each) => !each.row);
  return rows;
}

/** Sorts rows, and joins those with the same place. */
function mergeRows(rows: Line[]): Line[] {
  const merged = new Map<number, Line & { row: GridRow }>();
  for (const { row, ...each } of rows) {
    if (!row) continue;
    const first = merged.get(row.index);
    if (!first) {
      merged.set(row.index, { ...each, row });
      continue;
    }
    first.row.cells = [...first.row.cells, ...row.cells].sort((one, other) => one.column - other.column);
    first.row.head ||= row.head;
    first.text = writeRow(first.row);
    first.inside.push(...each.inside);
  }
  return [...merged.values()].sort((one, other) => one.row.index - other.row.index);
}

const writeRow = ({ head, cells }: GridRow): string =>
  `${head}| ${cells.map(({ text }) => text).join(" | ")}`.trimEnd();

/** The cells of a row. There may be elements without a role between the row and its cells. */
function findCells(kit: PageKit, parent: PageElement): PageElement[] {
  const found: PageElement[] = [];
  for (const child of kit.childrenOf(parent)) {
    if (!kit.dom.isElement(child) || kit.dom.matches(child, SKIPPED)) continue;
    if (/cell|header/.test(kit.roleOf(child) ?? "")) found.push(child);
    else found.push(...findCells(kit, child));
  }
  return found;
}

function readCell(walker: Walker, cell: PageElement, style: CSSStyleDeclaration, context: Context): Line[] {
  const { kit, lines } = walker;
  const role = kit.roleOf(cell);
  const inside: Line[] = [];
  const use = kit.purposeOf(cell, null, style, context.hasPointer);
  // A grid lets one of its cells have the focus at a time. That says nothing about the cell.
  const isUsed = use !== null && !(use === "focusable" && role !== "cell");
  if (isUsed && role !== "columnheader") {
    showUsable(walker, { element: cell, role, use }, inside, context);
    lines.flush(inside);
    return inside;
  }
  walker.visitChildren(cell, inside, { ...context, isInItem: role !== "columnheader" });
  lines.flush(inside);
  if (role !== "columnheader") {
    const about = aboutCell(kit, cell);
    const [first = { text: "", isOpen: false, inside: [] }, ...more] = inside;
    return about ? [{ ...first, text: [about, first.text].filter(Boolean).join(" ") }, ...more] : inside;
  }
  const text = lines.flatten(inside);
  const hasRef = !REF.test(text) && (isUsed || kit.dom.matches(cell, "[aria-sort][tabindex]"));
  const states = kit.statesOf(cell, hasRef);
  if (hasRef) states.unshift(`[${kit.refOf(cell)}]`);
  const whole = [text, ...states].filter(Boolean).join(" ");
  const frame = inside.find((each) => each.frame !== undefined)?.frame;
  return whole ? [{ text: whole, isOpen: false, inside: [], ...(frame !== undefined && { frame }) }] : [];
}

/** The date of a calendar's cell, which often shows no more than a day, and whether the cell is selected or the current one. */
function aboutCell(kit: PageKit, cell: PageElement): string {
  const [date] = /^\d{4}-\d\d-\d\d(?!\d)/.exec(kit.dom.getAttribute(cell, "data-date") ?? "") ?? [];
  const states = kit.statesOf(cell).filter((state) => /^(selected|current)\b/.test(state));
  return [...(date === undefined ? [] : [`date ${date}`]), ...states].join(" ");
}

/** The value of an attribute with a place or a count. -1 if there is none, or if it is not known. */
function readIndex({ dom }: PageKit, element: PageElement, name: string): number {
  const value = dom.getAttribute(element, name) ?? "";
  return /^\d{1,9}$/.test(value) ? Number(value) : -1;
}
