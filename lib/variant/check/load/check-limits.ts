/** How long the parts of a check may take, in milliseconds. */
export type CheckLimits = {
  /** The whole check. */
  checkMs: number;
  /** One page at one width. */
  pageMs: number;
  /** Until a page's response, and again from there until its load event. */
  loadMs: number;
  /** One evaluation in a page. */
  answerMs: number;
  /** Minimum time after the load event, because scripts continue after it. */
  loadedMs: number;
  /** The accessibility check of a page. */
  accessibilityMs: number;
  /** Until a page makes no requests and changes nothing. */
  restMs: number;
  /** Until each change is applied: the runtime waits up to 3 s for hydration. */
  applyMs: number;
  /** Until a change that is marked as late is applied. */
  lateMs: number;
  /** Until a change is applied again after its element was rendered again. */
  rerenderMs: number;
  /** Until the page's router has followed a link, and until changes are applied again after coming back. */
  routeMs: number;
  /** How long to watch a page that undid a change while it was at rest. */
  fightMs: number;
};

export const CHECK_LIMITS: CheckLimits = {
  checkMs: 120_000,
  pageMs: 45_000,
  loadMs: 15_000,
  answerMs: 5_000,
  accessibilityMs: 20_000,
  loadedMs: 1_000,
  restMs: 3_000,
  applyMs: 4_000,
  lateMs: 5_000,
  rerenderMs: 1_000,
  routeMs: 5_000,
  fightMs: 3_000,
};
