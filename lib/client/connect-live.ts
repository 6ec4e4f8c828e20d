import { type Connection, callOperation } from "./call-operation.ts";
import { decodeFrame, type ScreencastFrame } from "./frame-header.ts";
import { createLiveConnection, type LiveStatus } from "./live-connection.ts";
import { ApiError, isTransient } from "./service-error.ts";
import type { LiveClientFrame, LiveFrame } from "./wire.ts";

export type { LiveStatus, ScreencastFrame };

export type LiveOptions = {
  onFrame: (frame: LiveFrame) => void;
  /** Called with every picture of the live view. {@link LiveSession.setViewing} turns the live view on and off. */
  onPicture?: ((picture: ScreencastFrame) => void) | undefined;
  onStatus?: ((status: LiveStatus) => void) | undefined;
  /**
   * Sequence number after which the connection starts: the service first sends the stored events after this number,
   * then new events. If omitted, the service sends only new events.
   */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Opens a WebSocket and sends `headers` with the opening request. Required in runtimes without a global `WebSocket`.
   */
  openSocket?: ((url: string, headers: Record<string, string>) => WebSocket) | undefined;
};

/** A live connection to a session. */
export type LiveSession = {
  /** Sends a frame if the connection is open. @returns whether the frame was sent. */
  send: (frame: LiveClientFrame) => boolean;
  /** Turns the live view on or off. A reconnect does not change the setting. */
  setViewing: (isViewing: boolean) => void;
  close: () => void;
  /** Resolves when `close` is called or the signal aborts. Rejects if the service refuses the connection. */
  closed: Promise<void>;
};

const REFUSALS = {
  unauthorized: { status: 401, code: "unauthorized" },
  forbidden: { status: 403, code: "forbidden" },
  "not found": { status: 404, code: "not_found" },
};

/**
 * Opens a live connection to a session. After a loss, the connection reconnects and resumes after the last event
 * received, so each stored event is delivered exactly once. In Node and with a custom `openSocket`, the API key is sent
 * as a request header; other runtimes send the key in the first frame.
 */
export function connectLive(connection: Connection, sessionId: string, options: LiveOptions): LiveSession {
  const { apiKey, baseUrl } = connection;
  const { onFrame, onPicture, onStatus, signal } = options;
  const { promise: closed, resolve, reject } = createDeferred();
  // Prevents an unhandled rejection if the caller does not use `closed`.
  closed.catch(() => {});
  let seen = options.after;
  /** Whether the service has accepted the current or last connection. */
  let wasReady = false;

  const live = createLiveConnection<LiveFrame>({
    path: `${new URL(baseUrl).pathname.replace(/\/+$/, "")}/api/sessions/${encodeURIComponent(sessionId)}/live`,
    origin: new URL(baseUrl).origin,
    lastSeq: () => seen,
    openSocket: (url) => openSocket(url, apiKey, options.openSocket),
    onFrame(frame) {
      // Without `after`, the service sends only events that are newer than `lastSeq` of the `ready` frame. Until the
      // first of these events arrives, a reconnect must resume after `lastSeq`.
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
        const message = `the service refused the live connection: ${status.reason}`;
        reject(new ApiError({ ...REFUSALS[status.reason], message }));
      }
      // If the service refuses the connection before the WebSocket upgrade, the client sees only a lost connection. An
      // ordinary request shows whether the service refuses access.
      if (status.state !== "reconnecting") return;
      if (!wasReady) checkAccess();
      wasReady = false;
    },
  });

  function checkAccess(): void {
    callOperation(connection, "readAgentStatus", { sessionId }).catch((error: unknown) => {
      if (isTransient(error)) return;
      live.stop();
      signal?.removeEventListener("abort", close);
      reject(error);
    });
  }
  function close(): void {
    live.stop();
    signal?.removeEventListener("abort", close);
    resolve();
  }
  if (signal?.aborted) close();
  else {
    signal?.addEventListener("abort", close, { once: true });
    live.start();
  }
  return { send: live.send, setViewing: live.setViewing, close, closed };
}

function openSocket(url: string, apiKey: string | undefined, custom: LiveOptions["openSocket"]): WebSocket {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  if (custom) return custom(url, headers);
  if (typeof WebSocket === "undefined")
    throw new Error("this runtime has no WebSocket: pass openSocket, for instance with the package ws");
  // The cast is needed because Node's `WebSocket` accepts an object with request headers, but the standard type
  // declares only subprotocols.
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
