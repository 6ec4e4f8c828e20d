/** The effect of a change on one element. */
export type Effect = {
  /** Nodes whose mutations can disturb the effect. */
  nodes: () => (Node | null | undefined)[];
  /** Whether the effect is in place. Also takes over values that the page has written since. */
  isIntact: () => boolean;
  /** Puts the effect in place, for the first time or again. */
  apply: () => void;
  /** Reverts the effect and restores the page's own state. */
  undo: () => void;
  /** Whether the page has removed nodes that the effect needs. Default: whether its element has left the document. */
  isLost?: () => boolean;
};
