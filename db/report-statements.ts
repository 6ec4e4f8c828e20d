/** Drizzle's setting that has it tell of every statement before it is sent; none where nobody wants to know. */
export const reportTo = (onStatement: (() => void) | undefined) =>
  onStatement && { logger: { logQuery: onStatement } };
