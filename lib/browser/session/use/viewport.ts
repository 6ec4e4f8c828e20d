import type { CDPSession } from "playwright";
import type { ViewportChange } from "../../browser-service.ts";
import { VIEWPORT } from "../../page/open-browser.ts";
import { runningIn } from "../lifecycle/lifecycle-state.ts";
import type { Session, SessionViewport, ViewportSize } from "./session-state.ts";

/** The viewport of a browser that has just started. */
export const newViewport = (): SessionViewport => ({
  size: VIEWPORT,
  scale: 1,
  toldSize: VIEWPORT,
  applying: undefined,
  isStale: false,
  hasNewDocument: false,
  applied: new WeakMap(),
});

/**
 * The largest picture, in pixels: twice as many as those of a page of 1280 × 800, because the time for a picture grows with
 * its pixels. A page that is larger itself is shown as it is.
 */
const PIXELS_MAX = 2 * 1_280 * 800;

/** @see HostBrowsers.setViewport */
export async function setViewport(session: Session, { size, scale }: ViewportChange): Promise<void> {
  const { viewport } = session;
  if (!runningIn(session.life.state())) return;
  const next = size ?? viewport.size;
  const allowed = Math.sqrt(PIXELS_MAX / (next.width * next.height));
  viewport.size = next;
  viewport.scale = Math.max(1, Math.min(scale, allowed));
  await applyViewport(session);
}

/** Gives the selected page the session's viewport. A page that has just opened has the default viewport. */
export function applyViewport(session: Session): Promise<void> {
  const { viewport } = session;
  viewport.isStale = true;
  viewport.applying ??= applyUntilCurrent(session).finally(() => {
    viewport.applying = undefined;
  });
  return viewport.applying;
}

async function applyUntilCurrent(session: Session): Promise<void> {
  const { viewport, cast } = session;
  while (viewport.isStale) {
    const { hasNewDocument } = viewport;
    viewport.isStale = false;
    viewport.hasNewDocument = false;
    const running = runningIn(session.life.state());
    if (!running) return;
    const { size, scale } = viewport;
    const { page, cdp } = running.browser.selected();
    const last = viewport.applied.get(cdp) ?? { size: VIEWPORT, scale: 1, drawnScale: 1, wasChanged: false };
    const isChange = !isSame(last.size, size) || last.scale !== scale;
    if (!isSame(last.size, size)) await page.setViewportSize(size);
    if (isChange) await enlarge(cdp, size, scale);
    const isAgain = !isChange && hasNewDocument && last.wasChanged;
    const drawnScale = isAgain && last.drawnScale === scale ? scale * NUDGE : scale;
    if (isAgain) await enlargeAgain(cdp, size, drawnScale);
    viewport.applied.set(cdp, { size, scale, drawnScale, wasChanged: isChange || last.wasChanged });
    cast.setView({ size, scale });
  }
}

/**
 * Draws the page larger than it is, so that its pictures are sharper. The page does not notice: it has one device pixel
 * per CSS pixel, as ever. Pictures of tools have their own size.
 */
async function enlarge(cdp: CDPSession, size: ViewportSize, scale: number): Promise<void> {
  const { windowId } = await cdp.send("Browser.getWindowForTarget");
  await cdp.send("Browser.setWindowBounds", { windowId, bounds: windowOf(size, scale) });
  await cdp.send("Emulation.setDeviceMetricsOverride", {
    ...size,
    deviceScaleFactor: 1,
    mobile: false,
    ...(scale !== 1 && { scale, dontSetVisibleSize: true }),
  });
}

const windowOf = ({ width, height }: ViewportSize, scale: number) => ({
  width: Math.round(width * scale),
  height: Math.round(height * scale),
});

/**
 * Chromium ignores settings that are equal to the last ones of the same client, although a new document can have older
 * ones, or those of another client. A scale that differs by this factor changes no pixel.
 */
const NUDGE = 0.999_999;

/**
 * Applies the settings of a page again after a new document, whose renderer can have the size of earlier settings or of
 * Playwright's. Chromium also ignores a size that the window has already, so the window gets another size for a moment.
 */
async function enlargeAgain(cdp: CDPSession, size: ViewportSize, scale: number): Promise<void> {
  await enlarge(cdp, size, scale);
  const { windowId } = await cdp.send("Browser.getWindowForTarget");
  const { width, height } = windowOf(size, scale);
  await cdp.send("Browser.setWindowBounds", { windowId, bounds: { width: width + 1, height } });
  await cdp.send("Browser.setWindowBounds", { windowId, bounds: { width, height } });
}

/** How many pixels a CSS pixel of the selected page has in its window. */
export function viewScale({ viewport, life }: Session): number {
  const cdp = runningIn(life.state())?.browser.selected().cdp;
  return (cdp && viewport.applied.get(cdp)?.scale) ?? 1;
}

/** Gives the selected page the session's viewport again after a new document. */
export function showDocument(session: Session): Promise<void> {
  session.viewport.hasNewDocument = true;
  return applyViewport(session);
}

/** @see HostBrowsers.takeViewportNote */
export function takeViewportNote({ viewport }: Session): string | undefined {
  const { size, toldSize } = viewport;
  if (isSame(size, toldSize)) return undefined;
  viewport.toldSize = size;
  return `The viewport of the page is ${inPixels(size)} CSS pixels now, before it was ${inPixels(toldSize)}. People can change it in the live view.`;
}

const isSame = (one: ViewportSize, other: ViewportSize): boolean =>
  one.width === other.width && one.height === other.height;

const inPixels = ({ width, height }: ViewportSize): string => `${width} × ${height}`;
