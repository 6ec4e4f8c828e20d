import type { CDPSession } from "playwright";
import type { ScreencastFrame } from "../browser-service.ts";
import { VIEWPORT } from "../page/open-browser.ts";
import type { ListenerGuard } from "../process/listener-guard.ts";

const JPEG_QUALITY = 70;
/**
 * How long to wait for the first frame of a cast before the cast is restarted; each further wait is twice as long. A cast
 * that begins while the page changes its renderer may never deliver a frame.
 */
const FIRST_FRAME_MS = 600;
const RESTARTS_MAX = 5;

/** A page that can be cast: its DevTools session, and the guard of its browser's listeners. */
type CastSource = { cdp: CDPSession; guard: ListenerGuard };

/** One screencast of a session. All viewers share it. */
export type Screencast = {
  /**
   * Subscribes to all later frames. If the cast already runs, first delivers its latest frame. The cast runs while
   * there are subscriptions.
   * @returns a function that ends the subscription.
   */
  watch: (onFrame: (frame: ScreencastFrame) => void) => () => void;
  watcherCount: () => number;
  /** Restarts the cast. Call it after a document change: Chromium may still send frames of the old renderer. */
  refresh: () => void;
  /**
   * Switches the cast to this page; `source` is undefined if the browser has ended. Subscriptions continue.
   */
  attach: (source: CastSource | undefined) => void;
  /** Sets the size of the page in CSS pixels, and how many pixels its pictures have for a CSS pixel. */
  setView: (view: View) => void;
  /** How far people have zoomed into the page with two fingers, as of the latest frame. */
  zoom: () => number;
};

type View = { size: { width: number; height: number }; scale: number };

/** The parameters of DevTools' event `Page.screencastFrame`. */
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

type Cast = {
  onError: (error: unknown) => void;
  watchers: Set<(frame: ScreencastFrame) => void>;
  source: CastSource | undefined;
  last: ScreencastFrame | undefined;
  sequence: number;
  view: View;
  /** Stops the running cast. Undefined while no cast runs. */
  stop: (() => void) | undefined;
};

/** Creates the screencast of one session. Calls `onError` if Chromium cannot start to cast a page. */
export function createScreencast(onError: (error: unknown) => void): Screencast {
  const cast: Cast = {
    onError,
    watchers: new Set(),
    source: undefined,
    last: undefined,
    sequence: 0,
    view: { size: VIEWPORT, scale: 1 },
    stop: undefined,
  };
  const { watchers } = cast;
  return {
    watch(onFrame) {
      // A new function for each call, so that the same listener can be added twice.
      const watcher = (frame: ScreencastFrame) => onFrame(frame);
      if (cast.stop && cast.last) watcher(cast.last);
      watchers.add(watcher);
      start(cast);
      return () => {
        watchers.delete(watcher);
        if (watchers.size === 0) cast.stop?.();
      };
    },
    watcherCount: () => watchers.size,
    refresh: () => restart(cast, 0),
    attach(source) {
      if (source?.cdp === cast.source?.cdp) return;
      cast.stop?.();
      cast.source = source;
      cast.last = undefined;
      start(cast);
    },
    setView(view) {
      const { size, scale } = cast.view;
      if (view.size.width === size.width && view.size.height === size.height && view.scale === scale) return;
      cast.view = view;
      restart(cast, 0);
    },
    zoom: () => cast.last?.deviceScale ?? 1,
  };
}

function restart(cast: Cast, restarts: number): void {
  if (!cast.stop) return;
  cast.stop();
  start(cast, restarts);
}

function start(cast: Cast, restarts = 0): void {
  const { source, watchers } = cast;
  if (cast.stop || !source || watchers.size === 0) return;
  const { cdp, guard } = source;
  const firstFrameTimer =
    restarts < RESTARTS_MAX
      ? setTimeout(() => restart(cast, restarts + 1), FIRST_FRAME_MS * 2 ** restarts).unref()
      : undefined;
  const onFrame = guard((event: FrameEvent) => {
    // Acknowledge first, because Chromium sends the next frame only after the acknowledgment.
    cdp.send("Page.screencastFrameAck", { sessionId: event.sessionId }).catch(() => {});
    clearTimeout(firstFrameTimer);
    cast.sequence += 1;
    const frame = toFrame(event, cast.sequence, cast.view);
    cast.last = frame;
    for (const watcher of [...watchers]) watcher(frame);
  });
  cdp.on("Page.screencastFrame", onFrame);
  cdp
    .send("Page.startScreencast", {
      format: "jpeg",
      quality: JPEG_QUALITY,
      maxWidth: Math.round(cast.view.size.width * cast.view.scale),
      maxHeight: Math.round(cast.view.size.height * cast.view.scale),
      everyNthFrame: 1,
    })
    .catch(cast.onError);
  cast.stop = () => {
    cast.stop = undefined;
    clearTimeout(firstFrameTimer);
    cdp.off("Page.screencastFrame", onFrame);
    cdp.send("Page.stopScreencast").catch(() => {});
  };
}

function toFrame({ data, metadata }: FrameEvent, sequence: number, { size, scale }: View): ScreencastFrame {
  // Chromium reports the size of the window. A frame from before a change has the size of the window then. The window is
  // a pixel wider for a moment after a new document.
  const isEnlarged = scale !== 1 && Math.abs(metadata.deviceWidth - size.width * scale) < 2;
  const { width, height } = isEnlarged
    ? size
    : { width: Math.round(metadata.deviceWidth), height: Math.round(metadata.deviceHeight) };
  return {
    sequence,
    capturedAtMs: metadata.timestamp === undefined ? Date.now() : metadata.timestamp * 1000,
    width,
    height,
    deviceScale: metadata.pageScaleFactor,
    scrollX: Math.round(metadata.scrollOffsetX),
    scrollY: Math.round(metadata.scrollOffsetY),
    jpeg: Buffer.from(data, "base64"),
  };
}
