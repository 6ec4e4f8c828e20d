/** A result that may have been cut. */
type CutResult = {
  /** The whole value, or the beginning of its JSON as a string. */
  result: unknown;
  isResultCut?: true;
};

/** Cuts a result whose JSON is longer than this many bytes. */
export function cutResult(value: unknown, bytesMax: number): CutResult {
  const json = Buffer.from(JSON.stringify(value));
  if (json.byteLength <= bytesMax) return { result: value };
  // With `stream`, the decoder leaves out an incomplete character at the end.
  const text = new TextDecoder().decode(json.subarray(0, bytesMax), { stream: true });
  return { result: text, isResultCut: true };
}
