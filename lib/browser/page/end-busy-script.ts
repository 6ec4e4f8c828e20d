import type { CDPSession } from "playwright";
import { createDeadline } from "#lib/time/deadline.ts";

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
  // A failure is an answer too, or the page has ended.
  const answers = await createDeadline({ ms: waitMs }).settles(
    cdp.send("Runtime.evaluate", { expression: "0" }),
  );
  if (answers || isHeldBack()) return false;
  await createDeadline({ ms: ANSWER_MS_MAX }).settles(cdp.send("Runtime.terminateExecution"));
  return true;
}
