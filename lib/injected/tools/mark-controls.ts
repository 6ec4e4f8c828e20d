import { dom } from "../dom.ts";
import type { PageKit } from "../page-kit/page-kit.ts";

/**
 * An element that people can use, and the ref of the element, such as `e7`. The box is in CSS pixels, from the upper
 * left corner of the page.
 */
export type Mark = { ref: string; label: string; x: number; y: number; width: number; height: number };

/** A part of the page, in CSS pixels from the upper left corner of the page. */
export type Area = { x: number; y: number; width: number; height: number };

/**
 * Finds the usable elements in an area of a frame. The area and the boxes are relative to the viewport of the frame.
 */
export function findControls(kit: PageKit, { area, max }: { area: Area; max: number }): Mark[] {
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

/** Draws a border with the element's ref around each marked element. */
export function drawMarks(_kit: PageKit, marks: Mark[]): void {
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

/** Removes the borders. */
export function eraseMarks(): void {
  for (const host of dom.querySelectorAll(document, "[data-agent-session-marks]")) dom.remove(host);
}
