import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { Area, Mark } from "#lib/injected/tools/mark-controls.ts";
import { readCustomElements } from "../page-kit/custom-elements.ts";
import { evaluateIn } from "../page-kit/evaluate-in-frame.ts";
import { withFrames } from "../page-kit/page-frames.ts";

const MARKS_MAX = 150;

/**
 * Marks the usable elements in an area of the page: draws a border with the element's ref around each element that
 * people can use, except elements that can only be scrolled. Includes the elements of all visible frames. Marks at most
 * `MARKS_MAX` elements.
 * @returns the marked elements, and a function that removes the borders from the page.
 */
export function markControls(
  live: LiveBrowser,
  area: Area,
): Promise<{ marks: Mark[]; erase: () => Promise<void> }> {
  return withFrames(live, async (frames) => {
    const [main] = frames;
    if (!main) throw new Error("The page is gone; try again.");
    const scroll = await evaluateIn(main, "readScroll", null);
    const marks: Mark[] = [];
    for (const frame of frames.filter(({ isVisible }) => isVisible)) {
      // In a frame that does not answer, no elements are marked.
      const [left, top] = [frame.box.x + scroll.x, frame.box.y + scroll.y];
      const inFrame = { ...area, x: area.x - left, y: area.y - top };
      const found = await readCustomElements(frame)
        .then(() => evaluateIn(frame, "findControls", { area: inFrame, max: MARKS_MAX }))
        .catch(() => []);
      marks.push(...found.map((each) => ({ ...each, x: each.x + left, y: each.y + top })));
    }
    marks.splice(MARKS_MAX);
    await evaluateIn(main, "drawMarks", marks);
    return { marks, erase: () => evaluateIn(main, "eraseMarks", null).catch(() => {}) };
  });
}
