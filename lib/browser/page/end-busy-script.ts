import type { CDPSession } from "playwright";
import { untilSettled, withinTime } from "#lib/time/within-time.ts";

const ANSWER_MS_MAX = 2_000;

/**
 * Ends the script that keeps a page busy, so that the page answers again. Chromium does this even while the page is
 * busy. A page that answers is left alone, because Chromium would end its next script instead.
 *
 * @param waitMs how long the page may take to answer, in milliseconds.
 * @param isHeldBack whether Chromium holds back the commands for the page, so that its silence says nothing.
 * @returns whether a script was ended.
 */
export async function endBusyScript(
  cdp: Pick<CDPSession, "send">,
  waitMs: number,
  isHeldBack = () => false,
): Promise<boolean> {
  const silence = "the page is busy";
  try {
    await withinTime(cdp.send("Runtime.evaluate", { expression: "0" }), waitMs, silence);
    return false;
  } catch (error) {
    // Any other error is an answer, or the page has ended.
    if (!(error instanceof Error && error.message === silence) || isHeldBack()) return false;
    await untilSettled(cdp.send("Runtime.terminateExecution"), ANSWER_MS_MAX);
    return true;
  }
}
