import type { BrowserService, ViewListeners } from "#lib/browser/browser-service.ts";
import type { BrowserControl } from "#lib/browser/view/browser-control.ts";

/** The live view of one connection. */
type ViewerPictures = {
  /** Begins the view, if it has not begun. */
  start: (listeners: ViewListeners) => void;
  stop: () => void;
};

type Deps = {
  browser: Pick<BrowserService, "watch">;
  control: Pick<BrowserControl, "stateOf" | "follow">;
  sessionId: string;
  connectionId: string;
  /** Drops a picture that has not been sent. */
  dropPicture: () => void;
};

/**
 * Creates the live view of a connection. During a handover, the view of every connection except the one that has control is
 * interrupted. Source: decision 126.
 */
export function createViewerPictures(deps: Deps): ViewerPictures {
  const { browser, control, sessionId, connectionId, dropPicture } = deps;
  let wanted: ViewListeners | undefined;
  let stopWatching: (() => void) | undefined;
  let stopFollowing: (() => void) | undefined;

  function maySee(): boolean {
    const state = control.stateOf(sessionId);
    return !state?.isPrivate || state.holder?.connectionId === connectionId;
  }
  function follow(): void {
    if (!wanted) return;
    if (maySee()) {
      stopWatching ??= browser.watch(sessionId, wanted);
      return;
    }
    stopWatching?.();
    stopWatching = undefined;
    dropPicture();
  }
  return {
    start(listeners) {
      wanted ??= listeners;
      stopFollowing ??= control.follow(sessionId, follow);
      follow();
    },
    stop() {
      stopFollowing?.();
      stopWatching?.();
      wanted = stopFollowing = stopWatching = undefined;
      dropPicture();
    },
  };
}
