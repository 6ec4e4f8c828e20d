import { isQueryError } from "#db/query-error.ts";
import { errorText } from "#lib/text/error-text.ts";

const SERVICE_FAILURE =
  "The service failed while it carried out the call. Try again once, or continue without it.";

/**
 * Returns the text that the model and people see for a tool error: usually the message of the error. For a database
 * error, a fixed sentence is returned, because the message contains the SQL statement and its values. Paths of this
 * machine are removed.
 */
export function describeFailure(error: unknown): string {
  if (isQueryError(error)) return SERVICE_FAILURE;
  return errorText(error);
}
