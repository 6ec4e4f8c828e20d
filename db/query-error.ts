import { DrizzleQueryError } from "drizzle-orm";

/**
 * Whether an error is the error of a statement, or wraps one. The message of such an error contains the statement and its
 * values.
 */
export const isQueryError = (error: unknown): boolean =>
  error instanceof Error && (error instanceof DrizzleQueryError || isQueryError(error.cause));
