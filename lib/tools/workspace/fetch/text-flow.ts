import { beginningOf } from "#lib/text/whole-characters.ts";
/** Builds text from pieces. Collapses white space, and adds at most one blank line between two pieces. */
export type TextFlow = {
  add: (text: string) => TextFlow;
  /** Puts at least this many line breaks before the next piece. */
  breakLines: (count: 1 | 2) => TextFlow;
  /** Sets whether white space is kept unchanged, as in `<pre>`. */
  keepSpaces: (isKept: boolean) => void;
  /** Returns the position of the next piece, for `wrapLink`. */
  mark: () => number;
  /** Turns the text that was added since `start` into a link. Does nothing if no text was added. */
  wrapLink: (start: number, href: string) => void;
  /** Whether the text has reached its maximum length. */
  isFull: () => boolean;
  text: () => string;
};

/** @param charactersMax maximum length; longer text is cut and ends with `[… cut here …]`. */
export function createTextFlow(charactersMax: number): TextFlow {
  const pieces: string[] = [];
  let length = 0;
  let breaks = 0;
  let hasSpace = false;
  let keepsSpaces = false;

  const push = (piece: string) => {
    pieces.push(piece);
    length += piece.length;
  };
  const flow: TextFlow = {
    add(text) {
      const collapsed = keepsSpaces ? text : text.replace(/[\s\u00a0]+/g, " ");
      if (collapsed === "") return flow;
      if (!keepsSpaces && collapsed === " ") {
        hasSpace = true;
        return flow;
      }
      const isFirst = pieces.length === 0;
      if (breaks > 0 && !isFirst) push("\n".repeat(breaks));
      else if ((hasSpace || collapsed.startsWith(" ")) && !isFirst) push(" ");
      breaks = 0;
      const body = keepsSpaces ? collapsed : collapsed.trim();
      hasSpace = !keepsSpaces && collapsed.endsWith(" ");
      push(body);
      return flow;
    },
    breakLines(count) {
      breaks = Math.max(breaks, count);
      hasSpace = false;
      return flow;
    },
    keepSpaces(isKept) {
      keepsSpaces = isKept;
    },
    mark: () => pieces.length,
    wrapLink(start, href) {
      let first = start;
      while (first < pieces.length && pieces[first]?.trim() === "") first += 1;
      if (first >= pieces.length) return;
      pieces[first] = `[${pieces[first]}`;
      push(`](${href})`);
    },
    isFull: () => length >= charactersMax,
    text() {
      const whole = pieces.join("").trim();
      return length < charactersMax ? whole : `${beginningOf(whole, charactersMax)}\n[… cut here …]`;
    },
  };
  return flow;
}
