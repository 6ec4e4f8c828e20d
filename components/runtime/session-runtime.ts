import { createLiveConnection, type LiveConnection, type LiveStatus } from "#lib/client/live-connection.ts";
import { createControlSeat } from "#lib/page/actions/control-seat.ts";
import { createRevisionCache, type RevisionCache } from "#lib/page/actions/revision-cache.ts";
import { createSessionActions, type SessionActions } from "#lib/page/actions/session-actions.ts";
import { createTestResultsCache, type TestResultsCache } from "#lib/page/actions/test-results-cache.ts";
import type { FrameAccess } from "#lib/page/frame/frame-access.ts";
import { createDraftStore, type DraftStore } from "#lib/page/state/draft-store.ts";
import { createSessionStore, type SessionStore } from "#lib/page/state/page-store.ts";
import type { SessionSnapshot } from "#lib/page/state/session-snapshot.ts";
import type { LiveFrame } from "#lib/page/state/view-types.ts";

/** A frame of the live connection that is shown immediately and not stored in the state. */
type TransientFrame = Extract<LiveFrame, { type: "clipboard" | "cursor" | "pointer" }>;

/** What an open session page works with: its state, its actions, its caches and its live connection. */
export type SessionRuntime = {
  store: SessionStore;
  actions: SessionActions;
  /** What the page keeps in the browser across reloads. */
  drafts: DraftStore;
  revisions: RevisionCache;
  testResults: TestResultsCache;
  live: Pick<LiveConnection, "send" | "setViewing">;
  /** Calls the listener with every picture of the live view. @returns a function that unsubscribes. */
  onPicture: (listener: (frame: ArrayBuffer) => void) => () => void;
  /**
   * Calls the listener with every transient frame: the cursor of the live page, what was copied there, or the pointer of
   * the agent.
   */
  onTransientFrame: (listener: (frame: TransientFrame) => void) => () => void;
  /** Sends requests with the access of the page: its cookie, or the token of a frame. */
  fetch: typeof fetch;
  /** How the page of a frame proves its access. Undefined on other pages, which have a cookie. */
  frame: FrameAccess | undefined;
  /** The origin of the links that the page shows. */
  origin: string;
  /** Closes the live connection and opens it again with the cookie that the browser has now. */
  reconnect: () => void;
  /** Opens the live connection. @returns a function that closes the connection. */
  connect: (onStatus: (status: LiveStatus) => void) => () => void;
};

/** Creates the runtime of a page from its snapshot. `connect` opens the live connection. */
export function createSessionRuntime(snapshot: SessionSnapshot, frame?: FrameAccess): SessionRuntime {
  const store = createSessionStore(snapshot, scheduleDraw);
  const send: typeof fetch = frame?.fetch ?? ((...request) => fetch(...request));
  const actions = createSessionActions(
    snapshot.paths,
    send,
    () => store.getState().connectionId,
    frame?.headers,
  );
  const seat = createControlSeat(snapshot.session.id);
  const listeners = new Set<(frame: ArrayBuffer) => void>();
  const transientListeners = new Set<(frame: TransientFrame) => void>();
  let report: (status: LiveStatus) => void = () => {};
  const origin = typeof location === "undefined" ? "http://localhost" : location.origin;
  const connection = createLiveConnection<LiveFrame>({
    path: snapshot.paths.live,
    origin,
    viewsStage: true,
    lastSeq: () => store.getState().lastSeq,
    onFrame(frame) {
      if (frame.type === "control.token") return seat.keep(frame.data.token);
      if (frame.type === "ready") seat.resume(connection);
      if (frame.type !== "clipboard" && frame.type !== "cursor" && frame.type !== "pointer")
        return store.receive(frame);
      for (const listener of transientListeners) listener(frame);
    },
    onPicture(frame) {
      for (const listener of listeners) listener(frame);
    },
    onStatus: (status) => report(status),
    ...(frame && { openSocket: frame.openSocket }),
    // The response to the page's own address shows whether the visitor still has access. The page of a frame is the same for
    // everybody, but its data is not.
    hasAccess: async () => {
      const path = frame ? `${snapshot.paths.actions}/frame` : location.pathname;
      const { status } = await send(path, { method: "HEAD", cache: "no-store" });
      return ![401, 403, 404].includes(status);
    },
  });

  return {
    store,
    actions,
    drafts: createDraftStore(snapshot.session.id, findStorage()),
    revisions: createRevisionCache(actions.readRevision),
    testResults: createTestResultsCache(actions.readTestRun),
    live: connection,
    fetch: send,
    frame,
    onPicture(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onTransientFrame(listener) {
      transientListeners.add(listener);
      return () => transientListeners.delete(listener);
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

/** Returns the browser's storage. Undefined on the server, and if the browser refuses it. */
function findStorage(): Storage | undefined {
  try {
    return typeof localStorage === "undefined" ? undefined : localStorage;
  } catch {
    return undefined;
  }
}

/**
 * Runs a callback before the next drawn frame, but at the latest after a short delay: a hidden page draws no frames, and
 * a page may be hidden before its next frame.
 */
function scheduleDraw(callback: () => void): void {
  const frame = requestAnimationFrame(run);
  const timer = setTimeout(run, 100);
  function run(): void {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    callback();
  }
}
