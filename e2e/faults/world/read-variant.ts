type EditInput = { variant?: unknown; previews?: { variant?: unknown }[] };

/** Returns the variant that the input of a tool call, or its first preview, names; undefined if neither names one. */
export function readVariant(input: unknown): string | undefined {
  const { variant, previews } = (input ?? {}) as EditInput;
  const key = variant ?? previews?.[0]?.variant;
  return typeof key === "string" ? key : undefined;
}
