import { DrizzleQueryError } from "drizzle-orm";

/**
 * Whether an error was thrown for a failed statement, or wraps such an error. The message of such an error contains the
 * statement and its values.
 */
export const isQueryError = (error: unknown): boolean =>
  error instanceof Error && (error instanceof DrizzleQueryError || isQueryError(error.cause));
