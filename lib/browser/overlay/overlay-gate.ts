/** Why the overlay is not in the pages: a picture is being taken, or a script of the agent runs. */
export type OverlayHold = "picture" | "script";

/** The part of a page's overlay that the gate controls. */
export type GatedOverlay = {
  /** Adds the overlay to the page's document or removes it; resolves when the page has done so. */
  setShown: (isShown: boolean) => Promise<void>;
};

/**
 * Decides whether the overlay is in the pages of one browser. The overlay is removed by the first hold, and returns when the
 * last hold is released.
 */
export type OverlayGate = {
  isShown: () => boolean;
  /** Whether a script of the agent runs, or a page has not yet handled that script's last input. */
  isHeldByScript: () => boolean;
  /**
   * Removes the overlay from all pages. `out` maps the overlay of each page to a promise that settles when the page has
   * answered.
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
    // The call rejects if the page has navigated or closed meanwhile. The overlay is then gone with the old document.
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
