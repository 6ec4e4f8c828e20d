import type { CDPSession } from "playwright";
import { untilSettled } from "#lib/time/within-time.ts";

const ANSWER_MS_MAX = 2_000;

/**
 * Ends the script that a page is running, so that the page answers again. Call it only if the page does not answer,
 * because a page that runs no script would end its next one. Chromium handles this command even while the page is busy.
 */
export const endBusyScript = (cdp: Pick<CDPSession, "send">): Promise<void> =>
  untilSettled(cdp.send("Runtime.terminateExecution"), ANSWER_MS_MAX);
