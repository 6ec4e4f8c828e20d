import { startOfCharacter } from "./whole-characters.ts";

/**
 * Cuts a text to at most `charsMax` UTF-16 units. A cut text ends with `…` and contains whole characters only. It is a
 * copy, because a slice of a string would keep the whole string in memory.
 */
export function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  return `${Buffer.from(text.slice(0, startOfCharacter(text, charsMax - 1))).toString()}…`;
}
