/** A line that is being written, with the lines below it; `frame` is the ref of an iframe whose content belongs there. */
export type Line = { text: string; frame?: string; isOpen: boolean; inside: Line[] };

/** Writes pieces and text as lines. Text runs together across inline elements; a piece in a block has a line of its own. */
export type LineWriter = {
  /** Adds a piece to the last line if that is open and has room, or as a new line. */
  put: (into: Line[], piece: string, isBlock: boolean) => Line;
  /** Collects text of the page; it is written by the next `flush`. */
  addText: (text: string) => void;
  /** Writes the text that was collected, in JSON quotes. */
  flush: (into: Line[]) => void;
  /** What follows begins a new line. */
  breakLine: (into: Line[]) => void;
  /** Lines with all that is below them, as one. */
  flatten: (lines: Line[]) => string;
};

/** Makes a writer. Runs inside the page, sent as source: it uses nothing from outside its own body. */
export function makeLineWriter(): LineWriter {
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
      const end = rest.length <= textChars ? rest.length : Math.max(rest.lastIndexOf(" ", textChars), 1);
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
