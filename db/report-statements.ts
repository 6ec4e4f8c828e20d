/** Returns options with which Drizzle calls `onStatement` before it sends a statement; undefined without a callback. */
export const toDrizzleOptions = (onStatement: (() => void) | undefined) =>
  onStatement && { logger: { logQuery: onStatement } };
