/** Attribute of the overlay's host element. Queries of the service exclude the element that has this attribute. */
export const OVERLAY_ATTRIBUTE = "data-agent-session-overlay";

/** A box in CSS pixels of the page's viewport. */
export type Box = { x: number; y: number; width: number; height: number };

/** What the overlay shows. The service computes it, and the view in the page draws it. */
export type OverlayState = {
  pillText: string;
  isPicking: boolean;
  /** An empty text if there is none. */
  status: string;
  /** The comments that are not submitted yet. */
  rows: { comment: string; where: string }[];
  /** The frame around the element that the pointer is on, or that the open comment is about. */
  outline: (Box & { label: string }) | null;
  /** The open comment box, with the element's box at which it is placed. */
  editor: { title: string; at: Box; text: string; anchor: number; caret: number } | null;
};

/** The parts of the overlay that a person can press. A row's `remove` button has the row's index. */
export const OVERLAY_PARTS = [
  "pill",
  "list",
  "submit",
  "remove",
  "card",
  "comment",
  "add",
  "cancel",
] as const;
export type OverlayPart = (typeof OVERLAY_PARTS)[number];

/** Where a part is. A part that is above another one comes later in a list. */
export type PlacedPart = Box & { part: OverlayPart; index: number };
