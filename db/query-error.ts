import { DrizzleQueryError } from "drizzle-orm";

/** Whether a statement failed, in the error or in one that it wraps. The message of such an error holds the statement and its values. */
export const isQueryError = (error: unknown): boolean =>
  error instanceof Error && (error instanceof DrizzleQueryError || isQueryError(error.cause));
