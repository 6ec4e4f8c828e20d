/** A part of a document that a format does not support. A change with an omission is not in the exported document at all. */
export type Omission = {
  /** The change; null for a page entry, its style sheet or its script. */
  changeId: string | null;
  /** The page entry. */
  url: string;
  /** A sentence about what the format does not support. */
  reason: string;
};
