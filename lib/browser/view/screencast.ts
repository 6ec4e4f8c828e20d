import type { CDPSession } from "playwright";
import type { ScreencastFrame } from "../browser-service.ts";
import { VIEWPORT } from "../page/open-browser.ts";

const JPEG_QUALITY = 70;
/** A cast that begins while the page changes its renderer may stay without frames: then it is begun anew. */
const FIRST_FRAME_MS = 600;
const RESTARTS_MAX = 5;

/** One screencast of a session, shared by all who watch it. */
export type Screencast = {
  /** Follows the frames; the latest comes at once. The cast runs from the first watcher to the last. @returns the way to stop. */
  watch: (onFrame: (frame: ScreencastFrame) => void) => () => void;
  watcherCount: () => number;
  /** The page has another document, or has come further with it: Chromium may still cast the renderer that it left. */
  refresh: () => void;
  /** Points the cast at another page, or at none when the browser is gone; the watchers stay. */
  attach: (cdp: CDPSession | undefined) => void;
};

/** DevTools' `Page.screencastFrame`. */
type FrameEvent = {
  data: string;
  sessionId: number;
  metadata: {
    pageScaleFactor: number;
    deviceWidth: number;
    deviceHeight: number;
    scrollOffsetX: number;
    scrollOffsetY: number;
    timestamp?: number;
  };
};

/** Makes the screencast of one session. `onError` hears of a page that cannot be cast. */
export function createScreencast(onError: (error: unknown) => void): Screencast {
  const watchers = new Set<(frame: ScreencastFrame) => void>();
  let source: CDPSession | undefined;
  let last: ScreencastFrame | undefined;
  let sequence = 0;
  let stop: (() => void) | undefined;

  function restart(restarts: number): void {
    if (!stop) return;
    stop();
    start(restarts);
  }

  function start(restarts = 0): void {
    if (stop || !source || watchers.size === 0) return;
    const cdp = source;
    const patience =
      restarts < RESTARTS_MAX ? setTimeout(() => restart(restarts + 1), FIRST_FRAME_MS).unref() : undefined;
    const onFrame = (event: FrameEvent) => {
      // Unanswered frames stall the cast: the answer goes out before anything else.
      cdp.send("Page.screencastFrameAck", { sessionId: event.sessionId }).catch(() => {});
      clearTimeout(patience);
      const { metadata } = event;
      sequence += 1;
      last = {
        sequence,
        capturedAtMs: metadata.timestamp === undefined ? Date.now() : metadata.timestamp * 1000,
        width: Math.round(metadata.deviceWidth),
        height: Math.round(metadata.deviceHeight),
        deviceScale: metadata.pageScaleFactor,
        scrollX: Math.round(metadata.scrollOffsetX),
        scrollY: Math.round(metadata.scrollOffsetY),
        jpeg: Buffer.from(event.data, "base64"),
      };
      for (const watcher of [...watchers]) watcher(last);
    };
    cdp.on("Page.screencastFrame", onFrame);
    cdp
      .send("Page.startScreencast", {
        format: "jpeg",
        quality: JPEG_QUALITY,
        maxWidth: VIEWPORT.width,
        maxHeight: VIEWPORT.height,
        everyNthFrame: 1,
      })
      .catch(onError);
    stop = () => {
      stop = undefined;
      clearTimeout(patience);
      cdp.off("Page.screencastFrame", onFrame);
      cdp.send("Page.stopScreencast").catch(() => {});
    };
  }

  return {
    watch(onFrame) {
      // A wrapper of its own, so that one listener may watch twice.
      const watcher = (frame: ScreencastFrame) => onFrame(frame);
      if (stop && last) watcher(last);
      watchers.add(watcher);
      start();
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0) stop?.();
      };
    },
    watcherCount: () => watchers.size,
    refresh: () => restart(0),
    attach(cdp) {
      if (cdp === source) return;
      stop?.();
      source = cdp;
      last = undefined;
      start();
    },
  };
}
