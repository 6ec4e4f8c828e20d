import { WebSocket } from "ws";
import type { ScreencastFrame } from "#lib/browser/browser-service.ts";
import { CLOSE } from "#lib/client/close-codes.ts";
import { encodePicture } from "./server-frame.ts";

/** Above this many waiting bytes pictures are skipped, and a replay waits. */
const FULL_BYTES = 1024 * 1024;
/** Above this many a reader is too slow for the events. */
const OVERLOADED_BYTES = 8 * 1024 * 1024;

/** Writes to one socket, so that a slow reader costs bounded memory. Source: `security.md`, What is never lost. */
type SocketWriter = {
  /** Sends a text frame; a reader that is too far behind is closed with "try later" instead. */
  send: (frame: Uint8Array) => void;
  /** Sends a picture, or keeps it, the newest alone, until the reader has caught up. */
  sendPicture: (frame: ScreencastFrame) => void;
  /** Forgets the picture that waits. */
  dropPicture: () => void;
  /** Resolves once little is waiting or the socket is closed; undefined where that is so now. */
  room: () => Promise<void> | undefined;
};

/** Makes the writer of one open socket. */
export function createSocketWriter(webSocket: WebSocket): SocketWriter {
  let picture: ScreencastFrame | undefined;
  let wakers: (() => void)[] = [];
  const isFull = () => webSocket.bufferedAmount > FULL_BYTES;
  const isOpen = () => webSocket.readyState === WebSocket.OPEN;

  function write(bytes: Uint8Array, binary: boolean): void {
    if (isOpen()) webSocket.send(bytes, { binary }, onWritten);
  }
  function onWritten(): void {
    if (isOpen() && isFull()) return;
    if (wakers.length > 0) wake();
    if (!picture) return;
    const waiting = picture;
    picture = undefined;
    write(encodePicture(waiting), true);
  }
  function wake(): void {
    const woken = wakers;
    wakers = [];
    for (const waker of woken) waker();
  }
  webSocket.once("close", wake);

  return {
    send(frame) {
      if (webSocket.bufferedAmount <= OVERLOADED_BYTES) return write(frame, false);
      if (isOpen()) webSocket.close(CLOSE.tryLater, "this connection reads too slowly; try again later");
    },
    sendPicture(frame) {
      // A write is under way then, whose end sends what is kept.
      picture = isFull() ? frame : undefined;
      if (!picture) write(encodePicture(frame), true);
    },
    dropPicture() {
      picture = undefined;
    },
    room: () => (isOpen() && isFull() ? new Promise<void>((resolve) => wakers.push(resolve)) : undefined),
  };
}
