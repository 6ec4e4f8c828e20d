import type { PageWatch } from "./page-watch.ts";

/**
 * Measures how long scripts work after a mutation: adds an empty element to the body and removes it, several times. The
 * source of this function is sent to the page and runs there.
 *
 * @returns the median in milliseconds.
 */
export async function measureMutations(watch: PageWatch): Promise<number> {
  const ROUNDS = 7;
  const { dom } = watch.newKit();
  const body = dom.body(document);
  const times: number[] = [];
  for (let round = 0; body && round < ROUNDS; round += 1) {
    const element = dom.createElement(document, "span");
    element.hidden = true;
    const startMs = performance.now();
    dom.append(body, element);
    dom.remove(element);
    // The mutation observers run before this continues, because their microtask was queued first.
    await Promise.resolve();
    times.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  return times.sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;
}
