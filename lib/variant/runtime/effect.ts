/** The effect of a change on one element. */
export type Effect = {
  /** Nodes whose mutations can disturb the effect. */
  nodes: () => (Node | null | undefined)[];
  /**
   * Whether the effect is in place. If the page has changed a value since, this also records the new value as the page's
   * own.
   */
  isIntact: () => boolean;
  /** Puts the effect in place, for the first time or again. */
  apply: () => void;
  /** Reverts the effect, so that the page's own state is back. */
  undo: () => void;
  /**
   * Whether the page has removed nodes that the effect needs. If omitted, the effect is lost when its element has left the
   * document.
   */
  isLost?: () => boolean;
};
