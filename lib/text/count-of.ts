/**
 * A number of things: `1 file`, `3 files`.
 *
 * @param plural for nouns that do not take an `s`
 */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
