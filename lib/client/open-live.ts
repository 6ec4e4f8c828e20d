import { type Connection, callOperation } from "./call-operation.ts";
import { decodeFrame, type ScreencastFrame } from "./frame-header.ts";
import { createLiveConnection, type LiveStatus } from "./live-connection.ts";
import { ApiError, isTransient } from "./service-error.ts";
import type { LiveClientFrame, LiveFrame } from "./wire.ts";

export type { LiveStatus, ScreencastFrame };

export type LiveOptions = {
  onFrame: (frame: LiveFrame) => void;
  /** Called with every picture of the live view while {@link LiveSession.setViewing} is on. */
  onPicture?: ((picture: ScreencastFrame) => void) | undefined;
  onStatus?: ((status: LiveStatus) => void) | undefined;
  /** Replays stored events with a higher sequence number first. Omit for new events only. */
  after?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Opens the socket with these request headers; required in runtimes without a `WebSocket`. */
  openSocket?: ((url: string, headers: Record<string, string>) => WebSocket) | undefined;
};

/** A live connection to a session. */
export type LiveSession = {
  /** Sends a frame if the connection is open. @returns whether it was sent. */
  send: (frame: LiveClientFrame) => boolean;
  /** Subscribes to the live view, across reconnects, or unsubscribes. */
  setViewing: (isViewing: boolean) => void;
  close: () => void;
  /** Resolves after `close`; rejects if the service refuses the connection. */
  closed: Promise<void>;
};

const REFUSALS = {
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
  // A caller that ignores `closed` must not get an unhandled rejection.
  closed.catch(() => {});
  let seen = options.after;
  let wasReady = false;

  const live = createLiveConnection<LiveFrame>({
    path: `${new URL(baseUrl).pathname.replace(/\/+$/, "")}/api/sessions/${encodeURIComponent(sessionId)}/live`,
    origin: new URL(baseUrl).origin,
    lastSeq: () => seen,
    openSocket: (url) => openSocket(url, apiKey, options.openSocket),
    onFrame(frame) {
      // Without `after`, a reconnect resumes after the event that was the last when the connection opened.
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
      // A refusal before the upgrade looks like a lost connection; an ordinary call shows which it is.
      if (status.state === "reconnecting" && !wasReady) checkAccess();
    },
  });

  function checkAccess(): void {
    callOperation(connection, "readAgentStatus", { sessionId }).catch((error: unknown) => {
      if (isTransient(error)) return;
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

function openSocket(url: string, apiKey: string | undefined, custom: LiveOptions["openSocket"]): WebSocket {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  if (custom) return custom(url, headers);
  if (typeof WebSocket === "undefined")
    throw new Error("this runtime has no WebSocket: pass openSocket, for instance with the package ws");
  // Node's WebSocket accepts headers, which the standard type does not declare.
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
