/**
 * A part of a document that a format does not support. If the part belongs to a change, the export leaves out the whole
 * change.
 */
export type Omission = {
  /** Id of the change. Null if the omission concerns a page as a whole, or its style sheet or script. */
  changeId: string | null;
  /** The `url` of the page in the document. */
  url: string;
  /** A sentence about what the format does not support. */
  reason: string;
};
