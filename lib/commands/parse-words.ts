/**
 * Parses the words of a command line with `parse`, a function that calls `parseArgs` of `node:util`.
 *
 * @returns the parsed words, or an error message for the user.
 */
export function parseWords<Parsed>(
  parse: (words: string[]) => Parsed,
  words: string[],
): { ok: true; parsed: Parsed } | { ok: false; message: string } {
  try {
    return { ok: true, parsed: parse(words) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}
