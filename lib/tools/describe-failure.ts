import { isQueryError } from "#db/query-error.ts";
import { errorText } from "#lib/text/error-text.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "./quote-as-data.ts";

const SERVICE_FAILURE =
  "The service failed while it carried out the call. Try again once, or continue without it.";

/** Matches the beginning of Playwright's errors, such as `page.evaluate: `. */
const PLAYWRIGHT_ERROR = /^[a-z]\w*\.\$*\w+: /i;
const MESSAGE_CHARS_MAX = 4_000;

/**
 * Returns the text that the model and people see for a tool error: usually the message of the error. An error of
 * Playwright is marked as data, because it contains errors that the page has thrown and its elements. For a database
 * error, a fixed sentence is returned, because the message contains the SQL statement and its values. Paths of this
 * machine are removed.
 */
export function describeFailure(error: unknown): string {
  if (isQueryError(error)) return SERVICE_FAILURE;
  const message = errorText(error);
  return PLAYWRIGHT_ERROR.test(message)
    ? `The browser could not do it. ${quoteAsData("the browser", shorten(message, MESSAGE_CHARS_MAX))}`
    : message;
}
