import type { LiveBrowser } from "../browser-service.ts";

/**
 * Runs `work` (a picture, a saved page) while the overlay is out of the pages, and brings it back afterwards, also when
 * `work` throws.
 * @throws Error with a sentence when the page does not answer; otherwise what the work throws.
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
