import { type Connection, callOperation } from "./call-operation.ts";
import { decodeFrame, type ScreencastFrame } from "./frame-header.ts";
import { createLiveConnection, type LiveStatus } from "./live-connection.ts";
import { ApiError, isPassing } from "./service-error.ts";
import type { LiveClientFrame, LiveFrame } from "./wire.ts";

export type { LiveStatus, ScreencastFrame };

export type LiveOptions = {
  onFrame: (frame: LiveFrame) => void;
  /** Called with every picture of the live view, while it is viewed. */
  onPicture?: ((picture: ScreencastFrame) => void) | undefined;
  onStatus?: ((status: LiveStatus) => void) | undefined;
  /** Stored events with a higher number come first; without a word only those from now on. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Opens a socket where the runtime has no `WebSocket` of its own, or another is wanted. Headers are those to send. */
  openSocket?: ((url: string, headers: Record<string, string>) => WebSocket) | undefined;
};

/** A live connection to a session. */
export type LiveSession = {
  /** Sends a frame where the connection is open. @returns whether it was sent. */
  send: (frame: LiveClientFrame) => boolean;
  /** Follows the live view, over reconnections too, or stops following it. */
  setViewing: (isViewing: boolean) => void;
  close: () => void;
  /** Settles when it is over: after `close`, or, as a rejection, when the service turned the connection away. */
  closed: Promise<void>;
};

const TURNED_AWAY = {
  unauthorized: { status: 401, code: "unauthorized" },
  forbidden: { status: 403, code: "forbidden" },
  "not found": { status: 404, code: "not_found" },
};

/**
 * Opens a session's socket and keeps it open: it resumes after the last event seen, so that each stored event comes
 * exactly once. In Node the key travels as a header, elsewhere in the first frame.
 */
export function openLive(connection: Connection, sessionId: string, options: LiveOptions): LiveSession {
  const { apiKey, baseUrl } = connection;
  const { onFrame, onPicture, onStatus, signal } = options;
  const { promise: closed, resolve, reject } = createDeferred();
  // Whoever does not look at it is not to be ended by it.
  closed.catch(() => {});
  let seen = options.after;
  let wasReady = false;

  const live = createLiveConnection<LiveFrame>({
    path: `${new URL(baseUrl).pathname.replace(/\/+$/, "")}/api/sessions/${encodeURIComponent(sessionId)}/live`,
    origin: new URL(baseUrl).origin,
    lastSeq: () => seen,
    openSocket: (url) => openSocket(url, apiKey, options.openSocket),
    onFrame(frame) {
      // Without `after` the connection starts at the last stored event, so nothing after it may be missed.
      if (frame.type === "ready") seen ??= frame.lastSeq;
      else if ("seq" in frame) {
        if (seen !== undefined && frame.seq <= seen) return;
        seen = frame.seq;
      }
      wasReady = true;
      onFrame(frame);
    },
    onPicture(bytes) {
      const picture = onPicture && decodeFrame(bytes);
      if (picture) onPicture?.(picture);
    },
    onStatus(status) {
      onStatus?.(status);
      if (status.state === "closed" && status.reason !== "left") {
        const message = `the live connection was turned away: ${status.reason}`;
        reject(new ApiError({ ...TURNED_AWAY[status.reason], message }));
      }
      // A refusal before the upgrade looks like a broken connection; another call tells which it is.
      if (status.state === "reconnecting" && !wasReady) checkAccess();
    },
  });

  function checkAccess(): void {
    callOperation(connection, "readAgentStatus", { sessionId }).catch((error: unknown) => {
      if (isPassing(error)) return;
      live.stop();
      reject(error);
    });
  }
  function close(): void {
    live.stop();
    resolve();
  }
  if (signal?.aborted) close();
  else {
    signal?.addEventListener("abort", close, { once: true });
    live.start();
  }
  return { send: live.send, setViewing: live.setViewing, close, closed };
}

function openSocket(url: string, apiKey: string | undefined, own: LiveOptions["openSocket"]): WebSocket {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  if (own) return own(url, headers);
  if (typeof WebSocket === "undefined")
    throw new Error("this runtime has no WebSocket: pass openSocket, for instance with the package ws");
  // Node's own takes headers, which the standard's has no place for.
  if (isNode) return new WebSocket(url, { headers } as unknown as string[]);
  const socket = new WebSocket(url);
  if (apiKey !== undefined)
    socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "auth", token: apiKey })));
  return socket;
}

const isNode =
  (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined &&
  typeof document === "undefined";

function createDeferred() {
  let resolve = () => {};
  let reject = (_: unknown) => {};
  const promise = new Promise<void>((done, fail) => {
    resolve = done;
    reject = fail;
  });
  return { promise, resolve, reject };
}
