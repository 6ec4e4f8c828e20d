import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { evaluateIn } from "../page-kit/evaluate-in-frame.ts";
import { withFrames } from "../page-kit/page-frames.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/**
 * An element that people can use, and the ref of the element, such as `e7`. The box is in CSS pixels, from the upper
 * left corner of the page.
 */
export type Mark = { ref: string; label: string; x: number; y: number; width: number; height: number };

/** A part of the page, in CSS pixels from the upper left corner of the page. */
type Area = { x: number; y: number; width: number; height: number };

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
    const scroll = await evaluateIn(main, () => ({ x: scrollX, y: scrollY }), null);
    const marks: Mark[] = [];
    for (const frame of frames.filter(({ isVisible }) => isVisible)) {
      // In a frame that does not answer, no elements are marked.
      const [left, top] = [frame.box.x + scroll.x, frame.box.y + scroll.y];
      const inFrame = { ...area, x: area.x - left, y: area.y - top };
      const found = await evaluateIn(frame, findControls, { area: inFrame, max: MARKS_MAX }).catch(() => []);
      marks.push(...found.map((each) => ({ ...each, x: each.x + left, y: each.y + top })));
    }
    marks.splice(MARKS_MAX);
    await evaluateIn(main, drawMarks, marks);
    return { marks, erase: () => evaluateIn(main, eraseMarks, null).catch(() => {}) };
  });
}

/**
 * Finds the usable elements in an area of a frame. The area and the boxes are relative to the viewport of the frame.
 * The function is sent to the page as source and runs there, so it must not use anything from outside its own body.
 */
function findControls(kit: PageKit, { area, max }: { area: Area; max: number }): Mark[] {
  const { dom } = kit;
  const found: Mark[] = [];
  for (const element of kit.queryAll("*")) {
    if (found.length >= max) break;
    const { x, y, width, height } = dom.getBoundingClientRect(element);
    const isInside =
      x < area.x + area.width && area.x < x + width && y < area.y + area.height && area.y < y + height;
    if (width < 1 || height < 1 || !isInside || !kit.isVisible(element)) continue;
    const role = kit.roleOf(element);
    const parent = dom.parentElement(element);
    const isPointerInherited = parent !== null && dom.computedStyle(parent).cursor === "pointer";
    const purpose = kit.purposeOf(element, role, dom.computedStyle(element), isPointerInherited);
    if (purpose === null || purpose === "scrollable") continue;
    const ref = kit.refOf(element);
    const label = kit.describe(element, role ?? purpose, kit.nameOf(element), ref);
    found.push({ ref, label, x, y, width, height });
  }
  return found;
}

/** This function is sent to the page as source and runs there. */
function drawMarks({ dom }: PageKit, marks: Mark[]): void {
  const colours = ["#c2185b", "#1565c0", "#2e7d32", "#6a1b9a", "#bf360c"];
  const host = dom.createElement(document, "div");
  host.setAttribute("data-agent-session-marks", "");
  host.style.cssText =
    "all: initial; position: absolute; left: 0; top: 0; z-index: 2147483647; pointer-events: none;";
  const root = host.attachShadow({ mode: "closed" });
  for (const [index, { ref, x, y, width, height }] of marks.entries()) {
    const colour = colours[index % colours.length];
    const frame = dom.createElement(document, "div");
    frame.style.cssText = `position: absolute; box-sizing: border-box; border: 2px solid ${colour}; left: ${x}px; top: ${y}px; width: ${width}px; height: ${height}px;`;
    const tag = dom.createElement(document, "span");
    tag.textContent = ref;
    tag.style.cssText = `position: absolute; left: -2px; top: ${y > 16 ? -16 : -2}px; padding: 0 3px; background: ${colour}; color: #fff; font: bold 11px/14px sans-serif; white-space: nowrap;`;
    frame.append(tag);
    root.append(frame);
  }
  dom.append(dom.documentElement(document), host);
}

/** This function is sent to the page as source and runs there. */
function eraseMarks({ dom }: PageKit): void {
  for (const host of dom.querySelectorAll(document, "[data-agent-session-marks]")) dom.remove(host);
}
