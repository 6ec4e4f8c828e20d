import type { LiveBrowser } from "../browser-service.ts";
import type { OpenBrowser } from "../page/open-browser.ts";
import type { OverlayHold } from "./overlay-gate.ts";

/** How long a page may take to remove the overlay. */
const HIDE_TIMEOUT_MS = 10_000;

/**
 * Removes the overlay from all pages of a browser and waits until the selected page has done so.
 *
 * @returns brings the overlay back. @throws Error with a sentence when the selected page does not answer.
 */
export async function hideOverlay(taken: OpenBrowser, why: OverlayHold): Promise<() => void> {
  const { out, release } = taken.overlayGate.hold(why);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error("the page does not answer: its own scripts keep it busy")),
    HIDE_TIMEOUT_MS,
  );
  // A document that was left meanwhile rejects, but its overlay has gone with it.
  const isOut = out.get(taken.selected().overlay)?.catch(() => {});
  try {
    await Promise.race([isOut, late.promise]);
    return release;
  } catch (error) {
    release();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs `work` (a picture, a saved page) without the overlay in the pages and brings it back afterwards, also when `work`
 * throws.
 * @throws Error with a sentence when the page does not answer; otherwise what `work` throws.
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
