/**
 * A count with its noun: `1 file`, `3 files`.
 *
 * @param plural for nouns whose plural is not formed with `s`.
 */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
