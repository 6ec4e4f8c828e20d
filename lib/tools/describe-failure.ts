import { isQueryError } from "#db/query-error.ts";

const OWN_FAILURE = "The service failed while it carried out the call. Try again once, or go on without it.";

/**
 * What the model and people are told of an error that a tool threw: its own sentence. The error of a database statement
 * holds the statement and its values, so it is not shown.
 */
export function describeFailure(error: unknown): string {
  if (isQueryError(error)) return OWN_FAILURE;
  return error instanceof Error ? error.message : String(error);
}
