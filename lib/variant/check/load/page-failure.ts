/** A page that could not be examined. The message is a sentence for the report. */
export class PageFailure extends Error {
  override name = "PageFailure";
}
