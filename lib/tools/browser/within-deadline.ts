/**
 * Waits for work on a page, but only until the deadline passes or the call is stopped, because a page in an endless
 * loop or with an open dialog never answers. The work itself is not stopped.
 * @throws Error with a readable message if the call is stopped or the deadline passes; otherwise the error of the work.
 */
export async function withinDeadline<Result>(
  signal: AbortSignal,
  timeoutMs: number,
  work: () => Promise<Result>,
  explainSilence: (seconds: number) => string = explainSilentPage,
): Promise<Result> {
  if (signal.aborted) throw new Error("The call was stopped.");
  let onAbort = () => {};
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(new Error("The call was stopped."));
    signal.addEventListener("abort", onAbort, { once: true });
    timer = setTimeout(() => reject(new Error(explainSilence(Math.round(timeoutMs / 1000)))), timeoutMs);
  });
  const working = work();
  // If the work fails after the deadline, the failure is ignored instead of becoming an unhandled rejection.
  working.catch(() => {});
  try {
    return await Promise.race([working, silence]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

const explainSilentPage = (seconds: number) =>
  `The page did not answer within ${seconds} s: its scripts may be busy, or a dialog is open. Reload it, or go to another page.`;
