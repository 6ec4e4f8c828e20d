import type { PageElement } from "../../dom/make-dom.ts";
import { dom } from "./dom.ts";
import { includes } from "./lists.ts";

/**
 * Maximum number of times that a change may be applied to an element within `WINDOW_MS`. At this limit, the page is
 * assumed to undo the change again and again, and the runtime gives up.
 */
const APPLICATIONS_MAX = 20;
const WINDOW_MS = 10_000;
const LABEL_CHARACTERS_MAX = 100;
/** `NodeFilter.SHOW_TEXT` */
const SHOW_TEXT = 4;

/**
 * The times of the last `APPLICATIONS_MAX` applications of a change to an element, or to others with which the page
 * replaced it. `count` is the number of all applications.
 */
export type History = { times: number[]; count: number };

/** The time of the present round. See `beginRound`. */
export let roundMs = 0;

/**
 * Begins a round. A round is one run of the runtime's code, during which no code of the page runs.
 *
 * @returns the time of the round in milliseconds since navigation start. Each round has a different time.
 */
export function beginRound(): number {
  roundMs = Math.max(performance.now(), roundMs + 0.001);
  return roundMs;
}

/**
 * Records that a change is applied. All applications in the same round count as one, because the page may have rendered
 * a whole list again.
 *
 * @returns whether the limit allows the application.
 */
export function recordApplication(history: History): boolean {
  const { times, count } = history;
  if (includes(times, roundMs)) return true;
  const oldestMs = times[count % APPLICATIONS_MAX];
  if (oldestMs !== undefined && oldestMs >= roundMs - WINDOW_MS) return false;
  times[history.count++ % APPLICATIONS_MAX] = roundMs;
  return true;
}

/**
 * Builds a label from the first texts in an element and in its parent. The label identifies the element when the page
 * renders it again.
 */
export function readLabel(element: PageElement): string {
  let label = dom.localName(element);
  for (const node of [element, dom.parentNode(element) ?? element]) {
    const texts = dom.createTreeWalker(document, node, SHOW_TEXT);
    const end = label.length + LABEL_CHARACTERS_MAX;
    while (label.length < end && texts.nextNode()) label += texts.currentNode.nodeValue;
  }
  return label;
}
