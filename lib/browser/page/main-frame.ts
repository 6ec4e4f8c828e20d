import type { CDPSession } from "playwright";
import type { ListenerGuard } from "../process/listener-guard.ts";

/** A new address of the main frame. `isDocument` is false if the document is the same (`pushState`, a new fragment). */
export type Arrival = { url: string; isDocument: boolean };

/** The events of a page's main frame. */
export type MainFrameEvents = {
  /** Called when the main frame shows another document, when that document is parsed, and when it has loaded. */
  onDocument: () => void;
  /** Called when the main frame shows another document, or when only its address has changed. A reload counts, too. */
  onArrived: (arrival: Arrival) => void;
  /** Called when the document has fired its load event. */
  onLoaded: () => void;
};

/** The document that a page shows, by DevTools' ids. */
export type ShownDocument = { frameId: string; loaderId: string };

/** The main frame of a page. Its id changes when the page changes to another renderer process. */
export type MainFrame = {
  id: () => string;
  /** Returns DevTools' ids of the frame and of the document that it shows. */
  shown: () => ShownDocument;
  /**
   * Waits until the main frame shows the document with this loader id. The page then has the document's address.
   * @returns whether the document was shown within `timeoutMs`.
   */
  untilShown: (loaderId: string, timeoutMs: number) => Promise<boolean>;
};

/** The fields of DevTools' frame that are read here. */
type ShownFrame = { id: string; parentId?: string; loaderId: string; url: string; urlFragment?: string };

/** Follows the main frame of a page. DevTools sends the events only after the caller has sent `Page.enable`. */
export async function followMainFrame(
  cdp: CDPSession,
  guard: ListenerGuard,
  events: MainFrameEvents,
): Promise<MainFrame> {
  const { frameTree } = await cdp.send("Page.getFrameTree");
  let { id, loaderId: shownLoaderId } = frameTree.frame;
  const listeners = new Set<(loaderId: string) => void>();

  const onNavigated = (frame: ShownFrame) => {
    if (frame.parentId !== undefined) return;
    id = frame.id;
    shownLoaderId = frame.loaderId;
    for (const listener of [...listeners]) listener(frame.loaderId);
    events.onDocument();
    events.onArrived({ url: frame.url + (frame.urlFragment ?? ""), isDocument: true });
  };
  const onLoaded = () => {
    events.onDocument();
    events.onLoaded();
  };
  cdp.on(
    "Page.frameNavigated",
    guard(({ frame }) => onNavigated(frame)),
  );
  cdp.on(
    "Page.navigatedWithinDocument",
    guard(({ frameId, url }) => {
      if (frameId === id) events.onArrived({ url, isDocument: false });
    }),
  );
  cdp.on(
    "Page.domContentEventFired",
    guard(() => events.onDocument()),
  );
  cdp.on("Page.loadEventFired", guard(onLoaded));

  return {
    id: () => id,
    shown: () => ({ frameId: id, loaderId: shownLoaderId }),
    untilShown(loaderId, timeoutMs) {
      if (shownLoaderId === loaderId) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => finish(false), timeoutMs);
        function finish(isShown: boolean) {
          clearTimeout(timer);
          listeners.delete(listener);
          resolve(isShown);
        }
        function listener(shown: string) {
          if (shown === loaderId) finish(true);
        }
        listeners.add(listener);
      });
    },
  };
}
