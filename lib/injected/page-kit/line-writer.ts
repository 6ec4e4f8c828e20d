import { beginningOf } from "#lib/text/whole-characters.ts";

/**
 * A line and the lines nested in it. `frame` is the ref of an iframe whose content belongs below the line. `isOpen`
 * says whether more text may be appended to the line. `row` is set if the line is a row with a known place in its grid.
 */
export type Line = { text: string; frame?: string; isOpen: boolean; inside: Line[]; row?: GridRow };

/** A row of a grid: its place, what is before its cells, and the cells with the places of their columns. */
export type GridRow = { index: number; head: string; cells: { column: number; text: string }[] };

/**
 * Joins pieces into lines. A piece is text of the page, or the description of an element. Inline pieces share a line
 * while there is room. A block piece (`isBlock`) always gets a line of its own.
 */
export type LineWriter = {
  /** Appends an inline piece to the last line if that line is open and has room. Otherwise adds the piece as a new line. */
  put: (into: Line[], piece: string, isBlock: boolean) => Line;
  /** Collects text of the page; the next `flush` writes it. */
  addText: (text: string) => void;
  /** Writes the collected text in JSON quotes. */
  flush: (into: Line[]) => void;
  /** Closes the last line, so that the next piece begins a new one. */
  breakLine: (into: Line[]) => void;
  /** Joins lines and everything nested in them into one line. */
  flatten: (lines: Line[]) => string;
};

/** @see LineWriter */
export function createLineWriter(): LineWriter {
  const lineChars = 160;
  const textChars = 400;
  let pending = "";

  const put = (into: Line[], piece: string, isBlock: boolean): Line => {
    const last = into.at(-1);
    if (last?.isOpen && !isBlock && last.text.length + piece.length < lineChars) {
      last.text += ` ${piece}`;
      return last;
    }
    const line = { text: piece, isOpen: !isBlock, inside: [] };
    into.push(line);
    return line;
  };
  const flush = (into: Line[]) => {
    const text = pending.replace(/\s+/g, " ").trim();
    pending = "";
    for (let rest = text; rest; ) {
      const space = rest.length <= textChars ? rest.length : rest.lastIndexOf(" ", textChars);
      // Text without spaces, as in Chinese, is cut between two characters.
      const end = space > 0 ? space : beginningOf(rest, textChars).length;
      put(into, JSON.stringify(rest.slice(0, end).trim()), rest.length > textChars);
      rest = rest.slice(end);
    }
  };
  const flatten = (lines: Line[]): string =>
    lines.map(({ text, inside }) => (inside.length > 0 ? `${text} / ${flatten(inside)}` : text)).join(" / ");
  return {
    put,
    flush,
    flatten,
    addText(text) {
      pending += text;
    },
    breakLine(into) {
      const last = into.at(-1);
      if (last) last.isOpen = false;
    },
  };
}
