import type { QuietPage } from "#lib/injected/check/page-watch.ts";
import { withinDeadline } from "#lib/tools/browser/within-deadline.ts";
import type { CheckContext } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";

const QUIET: QuietPage = { quietMs: 150, loadedMs: 0, ageMs: 0, maxMs: 800 };
/** Limit for the wait until the requests of a reaction are answered. */
const REQUESTS_MS_MAX = 1_500;

/**
 * Sends input to the page with the mouse or the keyboard.
 *
 * @throws Error with a sentence if the page does not take it, because its scripts are busy.
 */
export const sendInput = (
  { signal, limits }: Pick<CheckContext, "signal" | "limits">,
  { subject }: PageLoad,
  work: () => Promise<void>,
): Promise<void> =>
  withinDeadline(
    signal,
    limits.answerMs,
    work,
    (seconds) => `${subject} did not react to input within ${seconds} s: its scripts are busy.`,
  );

/** Waits until the page has reacted to input: its content has stopped changing, and its requests are answered. */
export async function untilReacted(load: PageLoad): Promise<void> {
  const untilMs = performance.now() + REQUESTS_MS_MAX;
  do await load.look("untilQuiet", QUIET);
  while (load.pendingRequests() > 0 && performance.now() < untilMs);
}
