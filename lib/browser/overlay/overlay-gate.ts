/** Why the overlay is not in the pages: a picture is being taken, or a script of the agent runs. */
export type HideReason = "picture" | "script";

/** The method of a page's overlay that {@link OverlayGate} calls. */
export type GatedOverlay = {
  /** Adds the overlay to the page's document, or removes it. Resolves when the page has done so. */
  setShown: (isShown: boolean) => Promise<void>;
};

/**
 * Decides whether the overlay is in the pages of one browser. The overlay is removed while at least one caller of
 * `hide` has not called `restore`.
 */
export type OverlayGate = {
  isShown: () => boolean;
  /** Whether the overlay is removed for a script of the agent. People cannot point at it then. */
  isHiddenByScript: () => boolean;
  /**
   * Removes the overlay from all pages until `restore` is called. `removals` maps the overlay of each page to a promise
   * that settles when the page has answered.
   */
  hide: (reason: HideReason) => { removals: Map<GatedOverlay, Promise<void>>; restore: () => void };
  /** Registers the overlay of a new page. @returns a function that unregisters it. */
  add: (overlay: GatedOverlay) => () => void;
};

/** @see OverlayGate */
export function createOverlayGate(): OverlayGate {
  const overlays = new Set<GatedOverlay>();
  const hidings = new Set<{ reason: HideReason }>();
  const apply = () => {
    const isShown = hidings.size === 0;
    const applied = [...overlays].map((overlay) => [overlay, overlay.setShown(isShown)] as const);
    // A rejection is ignored: the page has navigated or closed, and the overlay is gone with the old document.
    for (const [, done] of applied) done.catch(() => {});
    return new Map(applied);
  };
  return {
    isShown: () => hidings.size === 0,
    isHiddenByScript: () => [...hidings].some(({ reason }) => reason === "script"),
    hide(reason) {
      const hiding = { reason };
      hidings.add(hiding);
      return {
        removals: apply(),
        restore() {
          if (hidings.delete(hiding) && hidings.size === 0) apply();
        },
      };
    },
    add(overlay) {
      overlays.add(overlay);
      return () => void overlays.delete(overlay);
    },
  };
}
