import { dom } from "../dom.ts";

/** Reads the beginning of the document's title. */
export const readTitle = (charsMax: number): string => dom.title(document).slice(0, charsMax);

/**
 * Reads which part of the page the viewport shows, and the size of the whole page. Null if the page is not drawn yet.
 */
export function readViewport() {
  const root = dom.documentElement(document);
  // A page of which only the head has arrived is not drawn. Images and XML have no body.
  if (!root || (dom.localName(root) === "html" && !dom.body(document))) return null;
  const full = {
    width: Math.max(dom.scrollWidth(root), innerWidth),
    height: Math.max(dom.scrollHeight(root), innerHeight),
  };
  return { x: scrollX, y: scrollY, width: innerWidth, height: innerHeight, full };
}

/** Resolves when the fonts are loaded and two frames are drawn, but after one second at the latest. */
export async function untilDrawn(): Promise<void> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const drawn = Promise.all([dom.fonts(document).ready, frame().then(frame)]);
  await Promise.race([drawn, new Promise((resolve) => setTimeout(resolve, 1_000))]);
}

/** Resolves when the document has not changed for `quietMs`, or after `maxMs` at the latest. */
export function untilQuiet(quietMs: number, maxMs: number): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      observer.disconnect();
      clearTimeout(end);
      resolve();
    };
    let rest = setTimeout(finish, quietMs);
    const end = setTimeout(finish, maxMs);
    const observer = new MutationObserver(() => {
      clearTimeout(rest);
      rest = setTimeout(finish, quietMs);
    });
    const all = { subtree: true, childList: true, attributes: true, characterData: true };
    observer.observe(document, all);
  });
}

/** Removes the overlay from a document that was archived with it. */
export function removeOverlay(): void {
  for (const host of dom.querySelectorAll(document, "[data-agent-session-overlay]")) dom.remove(host);
}
