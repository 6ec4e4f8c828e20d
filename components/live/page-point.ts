/**
 * Returns the size at which a page is shown: complete, in its own proportions, and never enlarged, so that it stays
 * sharp.
 */
export function fitPage(
  page: { width: number; height: number },
  room: { width: number; height: number },
): { width: number; height: number } {
  const scale = Math.min(1, room.width / page.width, room.height / page.height);
  return { width: Math.floor(page.width * scale), height: Math.floor(page.height * scale) };
}

/**
 * Converts a point of the screen into CSS pixels of the page. A point outside the page becomes the nearest point
 * inside.
 */
export function pointInPage(
  at: { clientX: number; clientY: number },
  shown: { left: number; top: number; width: number; height: number },
  page: { width: number; height: number },
): { x: number; y: number } {
  const x = ((at.clientX - shown.left) / shown.width) * page.width;
  const y = ((at.clientY - shown.top) / shown.height) * page.height;
  return { x: Math.round(clamp(x, page.width - 1)), y: Math.round(clamp(y, page.height - 1)) };
}

const clamp = (value: number, most: number) => Math.max(0, Math.min(most, value));

/** Encodes the modifier keys of an event as the service does: Alt 1, Ctrl 2, Meta 4, Shift 8. */
export const modifiersOf = (event: {
  altKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
}): number =>
  (event.altKey ? 1 : 0) + (event.ctrlKey ? 2 : 0) + (event.metaKey ? 4 : 0) + (event.shiftKey ? 8 : 0);

/** Returns the service's name for the button of a mouse event. */
export const buttonOf = (button: number): "left" | "middle" | "right" =>
  button === 1 ? "middle" : button === 2 ? "right" : "left";
