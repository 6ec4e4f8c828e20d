import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { CLOSE } from "#lib/client/close-codes.ts";

/**
 * Frames that a client may send in a second, and at once after a quiet time. A page sends input once for each picture
 * that its screen shows, so at most 144 times a second, and a few frames more.
 */
const FRAMES_PER_S = 250;
const BURST_FRAMES = 1_000;
/** Bytes that count as one frame. A client may therefore send 250 KiB per second, and 1 MiB at once. */
const FRAME_BYTES = 1024;
/** How long a client may take to answer the close frame. */
const CLOSING_MS = 2_000;

/**
 * Limits what a client sends over its socket: messages of every type, protocol-level pings and pongs, and bytes. A client
 * beyond the limit is closed with 1008, and nothing more is read from it.
 *
 * @param now a monotonic clock, in milliseconds.
 */
export function limitFrames(webSocket: WebSocket, socket: Duplex, now: () => number): void {
  let left = BURST_FRAMES;
  let countedAt = now();
  let isClosed = false;

  function count(frames: number): void {
    const at = now();
    left = Math.min(BURST_FRAMES, left + ((at - countedAt) / 1_000) * FRAMES_PER_S) - frames;
    countedAt = at;
    if (left >= 0 || isClosed) return;
    isClosed = true;
    webSocket.close(CLOSE.violation, "too many frames; send at most 250 per second");
    socket.pause();
    setTimeout(() => webSocket.terminate(), CLOSING_MS).unref();
  }

  // Frames are counted before they are handled, so the frame beyond the limit has no effect.
  for (const name of ["message", "ping", "pong"] as const) webSocket.prependListener(name, () => count(1));
  socket.on("data", (part: Buffer) => count(part.byteLength / FRAME_BYTES));
}
