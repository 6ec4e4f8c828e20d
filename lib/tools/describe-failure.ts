import { isQueryError } from "#db/query-error.ts";

const SERVICE_FAILURE =
  "The service failed while it carried out the call. Try again once, or go on without it.";

/**
 * Describes an error that a tool threw, for the model and for people, with the error's own message. The message of a
 * database error contains the statement and its values, so a fixed sentence replaces it.
 */
export function describeFailure(error: unknown): string {
  if (isQueryError(error)) return SERVICE_FAILURE;
  return error instanceof Error ? error.message : String(error);
}
