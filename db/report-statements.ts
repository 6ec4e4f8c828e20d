/** Drizzle's options that call `onStatement` before each statement is sent; undefined without a callback. */
export const toDrizzleOptions = (onStatement: (() => void) | undefined) =>
  onStatement && { logger: { logQuery: onStatement } };
