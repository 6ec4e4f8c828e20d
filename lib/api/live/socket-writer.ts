import { WebSocket } from "ws";
import type { ScreencastFrame } from "#lib/browser/browser-service.ts";
import { CLOSE } from "#lib/client/close-codes.ts";
import { encodePicture } from "./server-frame.ts";

/** If more bytes than this are buffered, pictures are skipped and a replay waits. */
const FULL_BYTES = 1024 * 1024;
/** If more bytes than this are buffered, the client reads too slowly and the connection is closed. */
const OVERLOADED_BYTES = 8 * 1024 * 1024;

/** Writes to one socket. Memory is bounded even if the client reads slowly. Source: `security.md`, What is never lost. */
type SocketWriter = {
  /** Sends a text frame. If the client is too far behind, closes the connection with the code "try later" instead. */
  send: (frame: Uint8Array) => void;
  /**
   * Sends a picture. While the buffer is full, keeps only the newest picture and sends it when the buffer has drained.
   */
  sendPicture: (frame: ScreencastFrame) => void;
  /** Drops the picture that waits to be sent. */
  dropPicture: () => void;
  /**
   * Returns a promise that resolves when the buffer has drained or the socket is closed; undefined if the buffer is not
   * full.
   */
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
      // While the buffer is full, a write is in progress. The callback of this write sends the picture.
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
