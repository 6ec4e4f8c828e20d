import { add, filter, find, without } from "./lists.ts";
import { roundMs } from "./reapply-limit.ts";
import { type LostOriginal, shared } from "./shared-state.ts";

const LOST_MAX = 500;

/**
 * Keeps what an element had before a change, when the element has left the document. The page may have saved the HTML of
 * the changed element before, as htmx does for its history, and insert this HTML later.
 *
 * @param look describes the changed element as the page would render it from such HTML
 */
export function recordOriginal(look: string, original: unknown): void {
  // Elements that the page removed earlier do not come back together with these.
  shared.lost = filter(
    shared.lost,
    (each, index) => (each.look !== look || each.lostMs === roundMs) && shared.lost.length - index < LOST_MAX,
  );
  add(shared.lost, { look, original, lostMs: roundMs });
}

/** Finds and forgets what the first lost element with this look had before its change. */
export function popOriginal(look: string): LostOriginal | undefined {
  const taken = find(shared.lost, (each) => each.look === look);
  shared.lost = without(shared.lost, taken);
  return taken;
}
