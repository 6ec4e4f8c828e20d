/** Time limits for the parts of a check, in milliseconds. */
export type CheckLimits = {
  /** Limit for the whole check. */
  checkMs: number;
  /** Limit for one page at one viewport width. Time in which the machine is too busy for the page does not count. */
  pageMs: number;
  /** Limit for each of two waits: for the page's response, and from the response to the load event. */
  loadMs: number;
  /** Limit for one evaluation in a page. */
  answerMs: number;
  /** Minimum time to wait after the load event, because scripts continue after it. */
  loadedMs: number;
  /** Limit for one run of the accessibility rules. */
  accessibilityMs: number;
  /** Limit for the wait until a page has no pending requests. */
  quietWaitMs: number;
  /**
   * Limit for the wait until all changes are applied. It is longer than the 3 s that the runtime may wait for
   * hydration.
   */
  applyMs: number;
  /**
   * Limit for the wait until the late changes are applied. The elements of late changes appear only after the page has
   * loaded.
   */
  lateMs: number;
  /**
   * Limit for the wait until a change is applied again after its element was rendered again. Also the limit for two
   * other waits: until a requirement is met, and until all changes are applied after the other steps of the check.
   */
  rerenderMs: number;
  /**
   * Limit for each of two waits: until the page is back at its address, and until the changes are applied again there.
   */
  routeMs: number;
  /** Limit for the wait until the element of a step that opens something is visible. */
  stepMs: number;
  /** After this time, no further controls of a page are operated. */
  operateMs: number;
  /** How long to watch a page that undoes a change even after it has loaded completely. */
  fightMs: number;
};

export const CHECK_LIMITS: CheckLimits = {
  checkMs: 180_000,
  pageMs: 75_000,
  loadMs: 15_000,
  answerMs: 5_000,
  accessibilityMs: 20_000,
  loadedMs: 1_000,
  quietWaitMs: 3_000,
  applyMs: 4_000,
  lateMs: 5_000,
  rerenderMs: 1_000,
  routeMs: 5_000,
  stepMs: 3_000,
  operateMs: 20_000,
  fightMs: 3_000,
};
