/** A part of the room, in pixels of the screen. */
type Stretch = { left: number; top: number; width: number; height: number };

/** The picture of a page of this size, and where it is within the room around it. */
export type Picture = {
  shown: Stretch;
  room: { width: number; height: number };
  page: { width: number; height: number };
};

const WIDTH_MIN = 200;
const HEIGHT_MIN = 180;
const HEIGHT_MAX = 340;
const MARGIN = 4;

/**
 * Places a list or picker at its control in the picture: below it, or above it if there is more room, and always inside
 * the room. It may be larger than the control, because a page can be shown very small.
 *
 * @param box the control, in CSS pixels of the page.
 * @returns the place; `height` is the largest height that fits.
 */
export function placeAtControl(
  box: { x: number; y: number; width: number; height: number },
  { shown, room, page }: Picture,
): Stretch {
  const scale = shown.width / page.width;
  const left = shown.left + box.x * scale;
  const upper = shown.top + box.y * scale;
  const lower = upper + box.height * scale;
  const width = Math.min(Math.max(box.width * scale, WIDTH_MIN), room.width - 2 * MARGIN);
  const below = room.height - lower - MARGIN;
  const above = upper - MARGIN;
  const isBelow = below >= HEIGHT_MIN || below >= above;
  const fitting = Math.min(
    HEIGHT_MAX,
    Math.max(isBelow ? below : above, HEIGHT_MIN),
    room.height - 2 * MARGIN,
  );
  const top = isBelow ? Math.min(lower, room.height - fitting - MARGIN) : upper - fitting;
  return {
    left: Math.max(MARGIN, Math.min(left, room.width - width - MARGIN)),
    top: Math.max(MARGIN, top),
    width,
    height: fitting,
  };
}
