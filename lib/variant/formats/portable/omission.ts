/**
 * A part of a document that a format does not support. If the part belongs to a change, the export leaves out the whole change.
 */
export type Omission = {
  /** Id of the change; null if the omission is about the page entry itself, its style sheet or its script. */
  changeId: string | null;
  /** The `url` of the page entry. */
  url: string;
  /** A sentence about what the format does not support. */
  reason: string;
};
