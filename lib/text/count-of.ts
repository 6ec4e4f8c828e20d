/**
 * Formats a count with its noun: `1 file`, `3 files`.
 *
 * @param plural the plural form, for nouns that do not form it with `s`.
 */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
