import type { QuietPage } from "#lib/injected/check/watch-document.ts";
import { pageDeadline } from "#lib/tools/browser/page-deadline.ts";
import type { CheckContext } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";

const QUIET: QuietPage = { quietMs: 150, loadedMs: 0, ageMs: 0, maxMs: 800 };
const QUIET_TYPED: QuietPage = { ...QUIET, quietMs: 450 };
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
  pageDeadline(
    signal,
    limits.answerMs,
    (seconds) => `${subject} did not react to input within ${seconds} s: its scripts are busy.`,
  ).race(work);

/**
 * Waits until the page has reacted to input: its content has stopped changing, and its requests are answered and their
 * answers shown.
 *
 * @param isTyped whether the input was text. Many pages wait for a pause before they react to it.
 */
export async function untilReacted(load: PageLoad, isTyped = false): Promise<void> {
  const untilMs = performance.now() + REQUESTS_MS_MAX;
  let wasPending: boolean;
  do {
    wasPending = load.pendingRequests() > 0;
    await load.look("untilQuiet", isTyped ? QUIET_TYPED : QUIET);
  } while ((wasPending || load.pendingRequests() > 0) && performance.now() < untilMs);
}
