/** Why the overlay is not in the pages: a picture is being taken, or a script of the agent runs. */
export type OverlayHold = "picture" | "script";

/** The method of a page's overlay that {@link OverlayGate} calls. */
export type GatedOverlay = {
  /** Adds the overlay to the page's document, or removes it. Resolves when the page has done so. */
  setShown: (isShown: boolean) => Promise<void>;
};

/**
 * Decides whether the overlay is in the pages of one browser. The overlay is removed while at least one caller of
 * `hold` has not called `release`.
 */
export type OverlayGate = {
  isShown: () => boolean;
  /** Whether the overlay is removed for a script of the agent. People cannot point at it then. */
  isHeldByScript: () => boolean;
  /**
   * Removes the overlay from all pages until `release` is called. `out` maps the overlay of each page to a promise that
   * settles when the page has answered.
   */
  hold: (why: OverlayHold) => { out: Map<GatedOverlay, Promise<void>>; release: () => void };
  /** Registers the overlay of a new page. @returns a function that unregisters it. */
  add: (overlay: GatedOverlay) => () => void;
};

/** @see OverlayGate */
export function createOverlayGate(): OverlayGate {
  const overlays = new Set<GatedOverlay>();
  const holds = new Set<{ why: OverlayHold }>();
  const apply = () => {
    const isShown = holds.size === 0;
    const applied = [...overlays].map((overlay) => [overlay, overlay.setShown(isShown)] as const);
    // A rejection is ignored: the page has navigated or closed, and the overlay is gone with the old document.
    for (const [, done] of applied) done.catch(() => {});
    return new Map(applied);
  };
  return {
    isShown: () => holds.size === 0,
    isHeldByScript: () => [...holds].some(({ why }) => why === "script"),
    hold(why) {
      const hold = { why };
      holds.add(hold);
      return {
        out: apply(),
        release() {
          if (holds.delete(hold) && holds.size === 0) apply();
        },
      };
    },
    add(overlay) {
      overlays.add(overlay);
      return () => void overlays.delete(overlay);
    },
  };
}
