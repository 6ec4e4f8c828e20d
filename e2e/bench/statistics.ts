/** The value below which `share` of the values lie. @throws RangeError when there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  if (value === undefined) throw new RangeError("no values");
  return value;
}

/** The middle value. @throws RangeError when there are none. */
export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** The middle of the ratios of neighbours: both of a pair met the same noise. @throws RangeError when there are none. */
export const medianRatio = (pairs: readonly (readonly [number, number])[]): number =>
  median(pairs.map(([value, beside]) => value / beside));

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
