import { beginningOf } from "#lib/text/whole-characters.ts";

/**
 * Writes a text as a JSON string, cut at `max` characters. JSON escapes quotes, so text of the page cannot end the
 * string.
 */
export const quote = (text: string, max: number): string =>
  JSON.stringify(text.length > max ? `${beginningOf(text, max - 1)}…` : text);
