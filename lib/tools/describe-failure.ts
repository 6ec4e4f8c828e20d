import { isQueryError } from "#db/query-error.ts";

const SERVICE_FAILURE =
  "The service failed while it carried out the call. Try again once, or continue without it.";

/**
 * Returns the text that the model and people see for a tool error: usually the message of the error. For a database
 * error, a fixed sentence is returned, because the message contains the SQL statement and its values.
 */
export function describeFailure(error: unknown): string {
  if (isQueryError(error)) return SERVICE_FAILURE;
  return error instanceof Error ? error.message : String(error);
}
