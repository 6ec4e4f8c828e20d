import { createLiveConnection, type LiveConnection, type LiveStatus } from "#lib/client/live-connection.ts";
import { createSessionActions, type SessionActions } from "#lib/page/calls/session-actions.ts";
import { createSessionStore, type SessionStore } from "#lib/page/state/page-store.ts";
import type { LiveFrame, SessionSnapshot } from "#lib/page/state/view-types.ts";

/** A frame that is shown at once and kept nowhere. */
type PassingFrame = Extract<LiveFrame, { type: "cursor" | "pointer" }>;

/** Everything alive behind one open session page. */
export type SessionRuntime = {
  store: SessionStore;
  actions: SessionActions;
  live: Pick<LiveConnection, "send" | "setViewing">;
  /** Calls back with every picture of the live view; returns the way to stop. */
  onPicture: (listener: (frame: ArrayBuffer) => void) => () => void;
  /** Calls back with every frame that tells of something passing: the page's cursor, the agent's pointer. */
  onPassing: (listener: (frame: PassingFrame) => void) => () => void;
  /** The origin that the page's links start with. */
  origin: string;
  /** Closes the live connection and opens it with the cookie that the browser has now. */
  reconnect: () => void;
  /** Opens the live connection; returns the way to close it. */
  connect: (onStatus: (status: LiveStatus) => void) => () => void;
};

/** Makes the runtime of a page from its snapshot. Nothing is opened before `connect`. */
export function createSessionRuntime(snapshot: SessionSnapshot): SessionRuntime {
  const store = createSessionStore(snapshot, drawSoon);
  const actions = createSessionActions(snapshot.paths, undefined, () => store.getState().connectionId);
  const listeners = new Set<(frame: ArrayBuffer) => void>();
  const passingListeners = new Set<(frame: PassingFrame) => void>();
  let report: (status: LiveStatus) => void = () => {};
  const origin = typeof location === "undefined" ? "http://localhost" : location.origin;
  const connection = createLiveConnection<LiveFrame>({
    path: snapshot.paths.live,
    origin,
    lastSeq: () => store.getState().lastSeq,
    onFrame(frame) {
      if (frame.type !== "cursor" && frame.type !== "pointer") return store.receive(frame);
      for (const listener of passingListeners) listener(frame);
    },
    onPicture(frame) {
      for (const listener of listeners) listener(frame);
    },
    onStatus: (status) => report(status),
    // A visitor without access is answered 404 at the page's own address.
    hasAccess: async () => {
      const { status } = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
      return ![401, 403, 404].includes(status);
    },
  });

  return {
    store,
    actions,
    live: connection,
    onPicture(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onPassing(listener) {
      passingListeners.add(listener);
      return () => passingListeners.delete(listener);
    },
    origin,
    reconnect() {
      connection.stop();
      connection.start();
    },
    connect(onStatus) {
      report = onStatus;
      connection.start();
      window.addEventListener("online", connection.retryNow);
      return () => {
        window.removeEventListener("online", connection.retryNow);
        connection.stop();
      };
    },
  };
}

/** With the next drawn frame, or soon where the page is hidden and none is drawn. */
function drawSoon(callback: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(callback);
  else setTimeout(callback, 100);
}
