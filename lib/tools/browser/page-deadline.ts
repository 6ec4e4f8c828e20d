import { createDeadline, type Deadline } from "#lib/time/deadline.ts";
import { readStalledMs } from "#lib/time/processor-stalls.ts";

/**
 * Creates a deadline for work on a page, because a page in an endless loop or with an open dialog never answers. Its
 * errors have readable messages. Time in which the machine is too busy for the page does not count.
 *
 * @param signal the signal of the call. Undefined for work that no caller can stop.
 * @param describeSilence returns the message of the error if the time is over.
 */
export const pageDeadline = (
  signal: AbortSignal | undefined,
  ms: number,
  describeSilence: (seconds: number) => string = describeSilentPage,
): Deadline =>
  createDeadline({
    ms,
    signal,
    lateMessage: describeSilence(Math.round(ms / 1_000)),
    stopMessage: "The call was stopped.",
    readStalledMs,
  });

const describeSilentPage = (seconds: number) =>
  `The page did not answer within ${seconds} s: its scripts may be busy, or a dialog is open. Reload it, or go to another page.`;
