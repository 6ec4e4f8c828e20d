import { beginningOf } from "./whole-characters.ts";

/**
 * Cuts a text to at most `unitsMax` UTF-16 units. A cut text ends with `…` and contains whole characters only. It is a
 * copy, because a slice of a string would keep the whole string in memory. Works in browsers too.
 */
export function shorten(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  return `${copyOf(beginningOf(text, unitsMax - 1))}…`;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const copyOf = (text: string): string => decoder.decode(encoder.encode(text));
