/** The bytes of a value as JSON; endless where it is nested too deeply to be written. */
export function measureBytes(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
