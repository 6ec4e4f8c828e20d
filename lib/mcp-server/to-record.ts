/** Reads an unknown JSON value as an object. Any other value counts as an empty object. */
export const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};
