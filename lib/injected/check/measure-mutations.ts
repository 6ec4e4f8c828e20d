import type { PageElement } from "#lib/dom/make-dom.ts";
import type { PageWatch } from "./page-watch.ts";

/**
 * Changes the document several times as pages do: adds an empty element, changes its text and an attribute, and removes
 * it, in the body and next to the elements of the changes. Waits after each time for a frame and for short timers,
 * because scripts also react to changes there.
 *
 * @returns the number of times, and the median time in milliseconds that scripts work directly after a mutation.
 */
export async function measureMutations(watch: PageWatch): Promise<{ rounds: number; workMs: number }> {
  const ROUNDS = 5;
  const PLACES_MAX = 4;
  /** Browsers send no frames to a page that is hidden. */
  const PAUSE_MS = 30;
  const kit = watch.newKit();
  const { dom } = kit;
  const parents = watch.changes.flatMap((change) =>
    watch.verifier.subjects(kit, change).map((element) => dom.parentElement(element)),
  );
  const places = [...new Set([dom.body(document), ...parents])]
    .filter((place): place is PageElement => place !== null && !dom.matches(place, "html, head"))
    .slice(0, PLACES_MAX);
  const element = dom.createElement(document, "span");
  element.hidden = true;
  const text = dom.createTextNode(document, "");
  dom.append(element, text);
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = performance.now();
    for (const place of places) {
      dom.append(place, element);
      text.data = `${round}`;
      dom.setAttribute(element, "title", `${round}`);
      dom.remove(element);
    }
    // The mutation observers run before this continues, because their microtask was queued first.
    await Promise.resolve();
    times.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return { rounds: ROUNDS, workMs: times.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0 };
}
