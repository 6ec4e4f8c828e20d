/** What a change does to one element. */
export type Effect = {
  /** Nodes whose mutations can disturb the effect. */
  nodes: () => (Node | null | undefined)[];
  /** Whether the effect is in place. Learns what the page has written meanwhile. */
  isIntact: () => boolean;
  /** Puts the effect in place, for the first time or again. */
  apply: () => void;
  /** Takes the effect back: the page's own state remains. */
  undo: () => void;
  /** Whether the page has removed what the effect needs. The default is that its element has left the document. */
  isLost?: () => boolean;
};
