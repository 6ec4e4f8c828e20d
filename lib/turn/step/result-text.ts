import { countCharacters, endOfCharacter, startOfCharacter } from "#lib/text/whole-characters.ts";

/** Maximum number of characters of a result that are stored. The tools have smaller limits of their own. */
const STORED_MAX = 4 * 1_048_576;

/** Returns the text of a tool result as it is stored: whole, or its beginning with a note. */
export function cutStored(text: string): string {
  if (text.length <= STORED_MAX) return text;
  const kept = text.slice(0, startOfCharacter(text, STORED_MAX));
  return `${kept}\n\n[… ${text.length - kept.length} further characters of this result were not stored …]`;
}

const SHOWN_MAX = 12_000;
const HEAD = 9_000;
const TAIL = 2_000;

/** Returns the text of a tool result for the model: whole up to 12,000 characters, otherwise its beginning and end. */
export function cutResult(text: string, resultId: string): string {
  if (text.length <= SHOWN_MAX) return text;
  const headEnd = startOfCharacter(text, HEAD);
  const tailStart = endOfCharacter(text, text.length - TAIL);
  const [head, middle, tail] = [
    text.slice(0, headEnd),
    text.slice(headEnd, tailStart),
    text.slice(tailStart),
  ];
  // `read_tool_result` counts as the database does.
  const [offset, left, total] = [head, middle, text].map(countCharacters);
  return `${head}\n\n[… ${left} of ${total} characters left out; read on with read_tool_result, resultId ${resultId}, offset ${offset} …]\n\n${tail}`;
}
