/** How often a change may be applied to an element within `WINDOW_MS`. Beyond that, page and variant are in a fight. */
const APPLICATIONS_MAX = 20;
const WINDOW_MS = 10_000;
const LABEL_CHARACTERS_MAX = 100;
/** `NodeFilter.SHOW_TEXT` */
const SHOW_TEXT = 4;

/** The times of the rounds in which a change was applied to an element and to those that replaced it. */
export type History = number[];

let roundMs = 0;

/**
 * Begins a round of work, in which no code of the page runs.
 *
 * @returns its time (`performance.now()`); no two are the same.
 */
export function beginRound(): number {
  roundMs = Math.max(performance.now(), roundMs + 0.001);
  return roundMs;
}

/**
 * Records an application. Applications of one round count once, because a list that is rendered again is one event.
 *
 * @returns whether the limit allows it.
 */
export function recordApplication(history: History): boolean {
  if (history.at(-1) === roundMs) return true;
  while ((history[0] ?? roundMs) < roundMs - WINDOW_MS) history.shift();
  return history.length < APPLICATIONS_MAX && history.push(roundMs) > 0;
}

/** The beginning of the texts of an element and of its parent. It identifies an element that the page renders again. */
export function readLabel(element: Element): string {
  let label = element.nodeName;
  for (const node of [element, element.parentNode ?? element]) {
    const texts = document.createTreeWalker(node, SHOW_TEXT);
    const end = label.length + LABEL_CHARACTERS_MAX;
    while (label.length < end && texts.nextNode()) label += texts.currentNode.nodeValue;
  }
  return label;
}
