import type { InboxState } from "#db/schema/unions.ts";
import { hidePaths } from "#lib/text/error-text.ts";
import { ERROR_STATUS, type ErrorCode } from "../contract/error-codes.ts";

/** An expected failure. It is returned as a value and not thrown. */
export type Failure = {
  ok: false;
  code: ErrorCode;
  error: string;
  headers?: Record<string, string>;
  /** For an item of the inbox that is settled already: its state. */
  state?: InboxState;
};

/** Creates a refusal. `error` is the message; if a field is wrong, the message begins with the name of the field. */
export const fail = (code: ErrorCode, error: string, headers?: Record<string, string>): Failure => ({
  ok: false,
  code,
  error,
  ...(headers && { headers }),
});

/**
 * Creates the response for a refusal. With `bare`, the body contains only the message, as the specification defines for
 * some operations.
 */
export function failureResponse(
  failure: Failure,
  options: { bare?: boolean; headers?: Record<string, string> } = {},
): Response {
  const error = hidePaths(failure.error);
  const { code, state } = failure;
  const body = options.bare ? { error } : { success: false, error, code, ...(state && { state }) };
  return Response.json(body, {
    status: ERROR_STATUS[failure.code],
    headers: { ...failure.headers, ...options.headers },
  });
}
