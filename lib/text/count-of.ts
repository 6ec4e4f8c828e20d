/**
 * Formats a count with its noun: `1 file`, `3 files`.
 *
 * @param plural the plural form, if it is not the noun with an `s`.
 */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
