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

/** Counts the characters of a text as Postgres does: a surrogate pair is one character. */
export const countCharacters = (text: string): number =>
  text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
