/**
 * Whether a position in a text is inside a character of two units (a surrogate pair), such as an emoji. The first unit
 * is then before the position and the second unit after it.
 */
const isInsideCharacter = (text: string, index: number): boolean =>
  index > 0 && (text.codePointAt(index - 1) ?? 0) > 0xffff;

/** Moves a position that is inside a character to the start of the character. Other positions stay. */
export const startOfCharacter = (text: string, index: number): number =>
  isInsideCharacter(text, index) ? index - 1 : index;

/** Moves a position that is inside a character to the end of the character. Other positions stay. */
export const endOfCharacter = (text: string, index: number): number =>
  isInsideCharacter(text, index) ? index + 1 : index;

/**
 * Returns the beginning of a text, at most `unitsMax` units and whole characters only. The function is also sent to pages
 * as source, so it must use nothing from outside its own body.
 */
export function beginningOf(text: string, unitsMax: number): string {
  const isInside = unitsMax > 0 && (text.codePointAt(unitsMax - 1) ?? 0) > 0xffff;
  return text.slice(0, isInside ? unitsMax - 1 : unitsMax);
}

/** The type of {@link beginningOf}, for functions of pages, which get it as an argument. */
export type BeginningOf = typeof beginningOf;

/** Returns the end of a text, at most `unitsMax` units and whole characters only. */
export const endOf = (text: string, unitsMax: number): string =>
  text.slice(endOfCharacter(text, Math.max(0, text.length - unitsMax)));

/**
 * Creates a function that joins the pieces of a text so that each returned piece has whole characters only: the first
 * half of a character at the end of a piece is kept for the next piece. Providers split texts anywhere.
 */
export function createCharacterJoiner(): (piece: string) => string {
  let half = "";
  return (piece) => {
    const text = half + piece;
    const last = text.charCodeAt(text.length - 1);
    half = last >= 0xd800 && last <= 0xdbff ? text.slice(-1) : "";
    return half === "" ? text : text.slice(0, -1);
  };
}

/** Counts the characters of a text as Postgres does: a surrogate pair is one character. */
export const countCharacters = (text: string): number =>
  text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
