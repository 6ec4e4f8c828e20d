import { DrizzleQueryError } from "drizzle-orm";

/** Whether an error is, or wraps, the error of a statement. Its message contains the statement and the values. */
export const isQueryError = (error: unknown): boolean =>
  error instanceof Error && (error instanceof DrizzleQueryError || isQueryError(error.cause));
