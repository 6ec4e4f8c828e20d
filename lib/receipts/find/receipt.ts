/**
 * What the service found out about one value of a deliverable. `seen`: it is in what the session saw. `elsewhere`:
 * it is there, but not near the other values of its record. `derived`: the agent cited what it computed the value
 * from, and that is there. `weak`: it is there, but is short or is in many places, so it says little.
 * `unseen`: it is nowhere. `unchecked`: it is in no text that was searched, and not all was searched.
 */
export const RECEIPT_STATUSES = ["seen", "elsewhere", "derived", "weak", "unseen", "unchecked"] as const;
export type ReceiptStatus = (typeof RECEIPT_STATUSES)[number];

/** A place at which a value is. */
export type ReceiptSource = {
  /** Number of the event that reports the call or the message with the text. */
  seq: number;
  /** The page or address that the text is from; null if there is none, such as for an answer of a tool server. */
  url: string | null;
  /** The text around the value. */
  quote: string;
  /** Id of the evidence with a picture of the page. */
  picture?: string;
  /** Id of the session of the sub-agent that saw the text, whose events `seq` counts. Absent for the session itself. */
  sessionId?: string;
};

/** Where a value of a deliverable is. `pointer` is a JSON pointer into the deliverable. */
export type Receipt = { pointer: string; status: ReceiptStatus; sources: ReceiptSource[] };

/** A text that a session saw. */
export type SeenText = {
  text: string;
  seq: number;
  /** The page or address that the text is probably from. What the text itself says about it counts more. */
  url: string | null;
  picture?: string;
  sessionId?: string;
  /** What the agent wrote to get the text, such as its script. A value that is there is the agent's own. */
  authored?: string;
};

/** What the agent says that it computed a value from. */
export type Citation = { value: unknown; from: string[] };

/** A deliverable to look up. `isWhole` is false if `texts` is not all that the session saw. */
export type ReceiptJob = {
  value: unknown;
  schema: unknown;
  texts: SeenText[];
  citations: Citation[];
  /** The newest picture of each page, by URL. */
  pictures: ReadonlyMap<string, string>;
  isWhole: boolean;
};
