/**
 * Returns the value below which the fraction `share` (0 to 1) of the values lies.
 *
 * @throws RangeError if there are no values.
 */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError("no values");
  return value;
}

/** Returns the median. @throws RangeError if there are no values. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/**
 * Returns the median of the ratios of pairs. Noise of the machine affects both values of a pair, because they were
 * measured at about the same time.
 *
 * @throws RangeError if there are no pairs.
 */
export const medianRatio = (pairs: readonly (readonly [number, number])[]): number =>
  median(pairs.map(([value, baseline]) => value / baseline));

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
