/** The error for a page that could not be examined. Its message is a sentence for the report. */
export class PageFailure extends Error {
  override name = "PageFailure";
}
