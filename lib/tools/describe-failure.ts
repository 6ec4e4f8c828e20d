import { isQueryError } from "#db/query-error.ts";

const SERVICE_FAILURE =
  "The service failed while it carried out the call. Try again once, or go on without it.";

/**
 * Returns the text that the model and people see for an error that a tool threw. This is the error's own message, except for
 * a database error: its message contains the statement and its values, so a fixed sentence replaces it.
 */
export function describeFailure(error: unknown): string {
  if (isQueryError(error)) return SERVICE_FAILURE;
  return error instanceof Error ? error.message : String(error);
}
