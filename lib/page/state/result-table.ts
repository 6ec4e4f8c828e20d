/** A list of objects as a table. A cell is undefined if the object of its row does not have the property. */
export type ResultTable = { columns: string[]; rows: unknown[][] };

type Row = Record<string, unknown>;

const COLUMNS_MAX = 100;

/**
 * Reads a table from a structured result: from a list of objects, or from an object with exactly one list, which is a
 * list of objects. Returns undefined for all other results, and for lists with more than 100 different properties.
 */
export function readTable(value: unknown): ResultTable | undefined {
  const list = findList(value);
  if (list === undefined || list.length === 0 || !list.every(isObject)) return undefined;
  const columns = new Set<string>();
  for (const row of list)
    for (const name of Object.keys(row)) {
      columns.add(name);
      if (columns.size > COLUMNS_MAX) return undefined;
    }
  if (columns.size === 0) return undefined;
  const names = [...columns];
  const rows = list.map((row) => names.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined)));
  return { columns: names, rows };
}

function findList(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  const lists = Object.values(value).filter(Array.isArray);
  return lists.length === 1 ? lists[0] : undefined;
}

const isObject = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Formats a cell as text: empty without a value, and JSON for lists and objects. */
export function formatCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/**
 * Writes a table as CSV (RFC 4180), with the names of the columns in the first line. A text that begins with `=`, `+`,
 * `-`, `@`, a tab or a line break gets an apostrophe before it, because spreadsheets would execute it as a formula.
 * Numbers stay as they are. Source: `wire.md`, Results as CSV.
 */
export const writeCsv = ({ columns, rows }: ResultTable): string =>
  [columns, ...rows].map((row) => `${row.map(writeCell).join()}\r\n`).join("");

function writeCell(value: unknown): string {
  const text = formatCell(value);
  const safe = typeof value !== "number" && /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
