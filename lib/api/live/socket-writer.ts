import { WebSocket } from "ws";
import type { ScreencastFrame } from "#lib/browser/browser-service.ts";
import { CLOSE } from "#lib/client/close-codes.ts";
import { encodePicture } from "./server-frame.ts";

/** With more buffered bytes than this, pictures are skipped and a replay waits. */
const FULL_BYTES = 1024 * 1024;
/** With more buffered bytes than this, the reader is too slow and the connection is closed. */
const OVERLOADED_BYTES = 8 * 1024 * 1024;

/** Writes to one socket, with bounded memory for a slow reader. Source: `security.md`, What is never lost. */
type SocketWriter = {
  /** Sends a text frame, or closes the connection with "try later" if the reader is too far behind. */
  send: (frame: Uint8Array) => void;
  /** Sends a picture. While the buffer is full, keeps only the newest picture and sends it afterwards. */
  sendPicture: (frame: ScreencastFrame) => void;
  /** Drops the pending picture. */
  dropPicture: () => void;
  /** Resolves when the buffer has drained or the socket is closed; undefined if there is nothing to wait for. */
  waitForDrain: () => Promise<void> | undefined;
};

/** Creates the writer of one open socket. */
export function createSocketWriter(webSocket: WebSocket): SocketWriter {
  let picture: ScreencastFrame | undefined;
  let waiters: (() => void)[] = [];
  const isFull = () => webSocket.bufferedAmount > FULL_BYTES;
  const isOpen = () => webSocket.readyState === WebSocket.OPEN;

  function write(bytes: Uint8Array, binary: boolean): void {
    if (isOpen()) webSocket.send(bytes, { binary }, onWritten);
  }
  function onWritten(): void {
    if (isOpen() && isFull()) return;
    if (waiters.length > 0) resolveWaiters();
    if (!picture) return;
    const pending = picture;
    picture = undefined;
    write(encodePicture(pending), true);
  }
  function resolveWaiters(): void {
    const resolved = waiters;
    waiters = [];
    for (const resolve of resolved) resolve();
  }
  webSocket.once("close", resolveWaiters);

  return {
    send(frame) {
      if (webSocket.bufferedAmount <= OVERLOADED_BYTES) return write(frame, false);
      if (isOpen()) webSocket.close(CLOSE.tryLater, "this connection reads too slowly; try again later");
    },
    sendPicture(frame) {
      // While the buffer is full a write is in progress, and its callback sends the picture.
      picture = isFull() ? frame : undefined;
      if (!picture) write(encodePicture(frame), true);
    },
    dropPicture() {
      picture = undefined;
    },
    waitForDrain: () =>
      isOpen() && isFull() ? new Promise<void>((resolve) => waiters.push(resolve)) : undefined,
  };
}
