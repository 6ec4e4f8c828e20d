import type { PageNode } from "../../dom/make-dom.ts";

/** The effect of a change on one element. */
export type Effect = {
  /** Nodes whose mutations can disturb the effect. */
  watched: () => (PageNode | null | undefined)[];
  /**
   * Whether the effect is in place. If the page has written a new value in the meantime, records it as the page's own
   * value.
   */
  isIntact: () => boolean;
  /** Puts the effect in place, for the first time or again. */
  put: () => void;
  /** Reverts the effect and restores the page's own state. */
  undo: () => void;
  /**
   * Whether the page has removed nodes that the effect needs. If omitted, the effect is lost when its element has left
   * the document.
   */
  isLost?: () => boolean;
};
