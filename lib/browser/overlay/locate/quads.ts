import type { Box } from "#lib/injected/overlay/overlay-state.ts";

export type Point = { x: number; y: number };

/** A box that may be moved, scaled and rotated: x and y of its four corners, from the top left one, as DevTools has them. */
export type Quad = number[];

/** Returns where a point is in a box, as parts of the box's own width and height. */
export function toQuad(quad: Quad, point: Point): Point {
  const { origin, right, down } = axesOf(quad);
  const [x, y] = [point.x - origin.x, point.y - origin.y];
  const area = right.x * down.y - right.y * down.x;
  return { x: (x * down.y - y * down.x) / area, y: (right.x * y - right.y * x) / area };
}

/** Reverses {@link toQuad}. */
function fromQuad(quad: Quad, { x, y }: Point): Point {
  const { origin, right, down } = axesOf(quad);
  return { x: origin.x + x * right.x + y * down.x, y: origin.y + x * right.y + y * down.y };
}

/** Returns the box around a part of a box, which is given in parts of that box's own width and height. */
export function boxInQuad(quad: Quad, { x, y, width, height }: Box): Box {
  const corners = [
    { x, y },
    { x: x + width, y },
    { x: x + width, y: y + height },
    { x, y: y + height },
  ].map((corner) => fromQuad(quad, corner));
  const [left, top] = [
    Math.min(...corners.map((each) => each.x)),
    Math.min(...corners.map((each) => each.y)),
  ];
  return {
    x: left,
    y: top,
    width: Math.max(...corners.map((each) => each.x)) - left,
    height: Math.max(...corners.map((each) => each.y)) - top,
  };
}

/** Returns the box around all corners; undefined if there are none. */
export function boundsOf(quads: Quad[]): Box | undefined {
  if (quads.length === 0) return undefined;
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const quad of quads)
    for (const [index, value] of quad.entries()) {
      if (index % 2 === 0) [left, right] = [Math.min(left, value), Math.max(right, value)];
      else [top, bottom] = [Math.min(top, value), Math.max(bottom, value)];
    }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function axesOf([x = 0, y = 0, rightX = 0, rightY = 0, , , downX = 0, downY = 0]: Quad) {
  return {
    origin: { x, y },
    right: { x: rightX - x, y: rightY - y },
    down: { x: downX - x, y: downY - y },
  };
}
