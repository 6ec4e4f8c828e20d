import type { LiveBrowser } from "../browser-service.ts";
import { OVERLAY_HANDLE, OVERLAY_WORLD } from "./overlay-world.ts";

/**
 * Runs `work` (a screenshot, a saved page) while the overlay is out of the selected page, and brings it back
 * afterwards, also when `work` throws.
 */
export async function withOverlayHidden<Result>(
  live: LiveBrowser,
  work: () => Promise<Result>,
): Promise<Result> {
  await showOverlay(live, false);
  try {
    return await work();
  } finally {
    await showOverlay(live, true);
  }
}

/** Takes the overlay out of the selected page, or brings it back. A page that is gone needs neither. */
export async function showOverlay(live: LiveBrowser, isShown: boolean): Promise<void> {
  try {
    const cdp = await live.cdp();
    const { frameTree } = await cdp.send("Page.getFrameTree");
    // Answers with the world of that name where the frame has one already.
    const world = await cdp.send("Page.createIsolatedWorld", {
      frameId: frameTree.frame.id,
      worldName: OVERLAY_WORLD,
    });
    await cdp.send("Runtime.evaluate", {
      contextId: world.executionContextId,
      expression: `globalThis.${OVERLAY_HANDLE}?.show(${isShown})`,
    });
  } catch {
    // Nothing to hide on a page that has just been left or closed.
  }
}
