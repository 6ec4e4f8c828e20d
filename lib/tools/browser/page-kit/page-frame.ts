import type { CDPSession } from "playwright";
import type { RefCounter } from "#lib/injected/page-kit/page-kit.ts";

/** A box in CSS pixels of the main frame's viewport. */
type Box = { x: number; y: number; width: number; height: number };

/** One frame of the page, whether or not it has its own process. */
export type PageFrame = {
  /** `main`, or `f1`, `f2` and so on, in the order in which the service first saw the frames. A frame keeps its key. */
  key: string;
  parentKey: string | null;
  refs: RefCounter;
  /** The ref of the iframe element in the parent frame; null for the main frame. */
  ownerRef: string | null;
  /** The DevTools frame id. */
  id: string;
  url: string;
  name: string;
  origin: string;
  isCrossOrigin: boolean;
  /** Selectors of the iframe elements that contain the frame, outermost first; empty for the main frame. */
  path: string[];
  /**
   * The box of the frame's viewport within the viewport of the main frame. For the main frame itself, all four numbers
   * are 0.
   */
  box: Box;
  isVisible: boolean;
  session: CDPSession;
  /**
   * DevTools id of the isolated world in which the tools' code runs in this frame. The page's scripts cannot reach that
   * world.
   */
  contextId: number;
};
