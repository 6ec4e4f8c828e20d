import { createDeadline } from "#lib/time/deadline.ts";
import type { LiveBrowser } from "../browser-service.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import { PendingDocumentError, unlessStalled } from "../page/pending-documents.ts";
import type { HideReason } from "./overlay-gate.ts";

/** How long a page may take to remove the overlay. */
const HIDE_TIMEOUT_MS = 10_000;

/**
 * Removes the overlay from all pages of a browser, and waits until the selected page has removed it. While a navigation
 * of that page is pending, it does so only when the navigation has ended, so this is not waited for then.
 *
 * @returns a function that shows the overlay again.
 * @throws Error with a readable message when the selected page does not answer.
 */
export async function hideOverlay(browser: OpenBrowser, reason: HideReason): Promise<() => void> {
  const { removals, restore } = browser.overlayGate.hide(reason);
  // A rejection is ignored: the page has navigated, and the overlay is gone with the old document.
  const removed = removals.get(browser.selected().overlay)?.catch(() => {});
  const { page } = browser.selected();
  try {
    if (removed)
      await unlessStalled(browser.documents, page, () =>
        createDeadline({
          ms: HIDE_TIMEOUT_MS,
          lateMessage: "the page does not answer: its own scripts keep it busy",
        }).race(removed),
      );
    return restore;
  } catch (error) {
    if (error instanceof PendingDocumentError) return restore;
    restore();
    throw error;
  }
}

/**
 * Hides the overlay while `work` runs, for example for a screenshot. Then shows the overlay again, even if `work`
 * throws.
 * @throws Error with a readable message when the page does not answer; the error of `work` when `work` throws.
 */
export async function withOverlayHidden<Result>(
  live: Pick<LiveBrowser, "hideOverlay">,
  work: () => Promise<Result>,
): Promise<Result> {
  const showOverlay = await live.hideOverlay("picture");
  try {
    return await work();
  } finally {
    showOverlay();
  }
}
