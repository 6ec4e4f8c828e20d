import { beginningOf } from "#lib/text/whole-characters.ts";

/** The text of a comment box and its selection, from where it began (`anchor`) to the caret. In UTF-16 units. */
export type CommentText = { text: string; anchor: number; caret: number };

/** Largest length of a comment, in UTF-16 units. */
const COMMENT_UNITS_MAX = 10_000;

export const EMPTY_COMMENT: CommentText = { text: "", anchor: 0, caret: 0 };

/** Replaces the selection with a text, of which only whole characters and only as many as fit are taken. */
export function insertText({ text, anchor, caret }: CommentText, inserted: string): CommentText {
  const start = Math.min(anchor, caret);
  const end = Math.max(anchor, caret);
  const room = COMMENT_UNITS_MAX - (text.length - (end - start));
  const fitting = beginningOf(inserted.replace(/\r\n?/g, "\n").toWellFormed(), room);
  const at = start + fitting.length;
  return { text: text.slice(0, start) + fitting + text.slice(end), anchor: at, caret: at };
}

/**
 * Applies an editing key as a text field does.
 *
 * @param how `isFar`: the key moves by words and to the ends of the text (Ctrl, Alt or Meta). `isSelecting`: the key
 * extends the selection (Shift).
 * @returns undefined if the key does not edit.
 */
export function editByKey(
  comment: CommentText,
  key: string,
  how: { isFar: boolean; isSelecting: boolean },
): CommentText | undefined {
  const { text, anchor, caret } = comment;
  const target = findTarget(text, caret, key, how.isFar);
  if (target === undefined) return undefined;
  if (key === "Backspace" || key === "Delete")
    return insertText(anchor === caret ? { text, anchor: target, caret } : comment, "");
  return { text, anchor: how.isSelecting ? anchor : target, caret: target };
}

const characters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const words = new Intl.Segmenter(undefined, { granularity: "word" });

/** Returns the position to which a key moves the caret, or up to which it deletes. */
function findTarget(text: string, caret: number, key: string, isFar: boolean): number | undefined {
  const startOfLine = (at: number) => (at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);
  const endOfLine = (at: number) => (text.indexOf("\n", at) === -1 ? text.length : text.indexOf("\n", at));
  const column = caret - startOfLine(caret);
  switch (key) {
    case "ArrowLeft":
    case "Backspace":
      return stepsOf(text, isFar).findLast((at) => at < caret) ?? 0;
    case "ArrowRight":
    case "Delete":
      return stepsOf(text, isFar).find((at) => at > caret) ?? text.length;
    case "Home":
      return isFar ? 0 : startOfLine(caret);
    case "End":
      return isFar ? text.length : endOfLine(caret);
    case "ArrowUp": {
      const line = startOfLine(caret);
      return line === 0 ? 0 : Math.min(startOfLine(line - 1) + column, line - 1);
    }
    case "ArrowDown": {
      const line = endOfLine(caret) + 1;
      return line > text.length ? text.length : Math.min(line + column, endOfLine(line));
    }
    default:
      return undefined;
  }
}

/** Lists the positions between characters, or the starts of words. */
const stepsOf = (text: string, isWord: boolean): number[] =>
  isWord
    ? [...words.segment(text)].filter(({ isWordLike }) => isWordLike).map(({ index }) => index)
    : [...characters.segment(text)].map(({ index }) => index);
