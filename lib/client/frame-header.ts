/** A captured frame of the live view. Sizes and offsets are in CSS pixels of the page. */
export type ScreencastFrame = {
  sequence: number;
  capturedAtMs: number;
  width: number;
  height: number;
  deviceScale: number;
  scrollX: number;
  scrollY: number;
  jpeg: Uint8Array;
};

/** The first four bytes of a frame: "ASF1" in ASCII. */
const MAGIC = 0x41534631;
const VERSION = 1;

/** Number of bytes before the JPEG. */
export const FRAME_HEADER_BYTES = 36;

/**
 * Encodes a screencast frame as one binary message, in little endian. The layout, with byte offsets: magic "ASF1" (4
 * bytes of text) at 0, version u8 at 4, 3 reserved bytes at 5, sequence u32 at 8, width u16 at 12, height u16 at 14,
 * capture time f64 (ms since 1970) at 16, device scale f32 at 24, scroll offsets i32 at 28 and 32, the JPEG from 36.
 * Runs in Node and in browsers. Source: `wire.md`, WebSocket.
 */
export function encodeFrame(frame: ScreencastFrame): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(FRAME_HEADER_BYTES + frame.jpeg.byteLength);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC);
  view.setUint8(4, VERSION);
  view.setUint32(8, frame.sequence, true);
  view.setUint16(12, frame.width, true);
  view.setUint16(14, frame.height, true);
  view.setFloat64(16, frame.capturedAtMs, true);
  view.setFloat32(24, frame.deviceScale, true);
  view.setInt32(28, frame.scrollX, true);
  view.setInt32(32, frame.scrollY, true);
  bytes.set(frame.jpeg, FRAME_HEADER_BYTES);
  return bytes;
}

/**
 * Decodes a message that {@link encodeFrame} created. The JPEG is not copied: it shares the memory of `data`.
 * @returns undefined if `data` has another format.
 */
export function decodeFrame(data: ArrayBuffer | Uint8Array): ScreencastFrame | undefined {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (bytes.byteLength <= FRAME_HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) !== MAGIC || view.getUint8(4) !== VERSION) return undefined;
  return {
    sequence: view.getUint32(8, true),
    width: view.getUint16(12, true),
    height: view.getUint16(14, true),
    capturedAtMs: view.getFloat64(16, true),
    deviceScale: view.getFloat32(24, true),
    scrollX: view.getInt32(28, true),
    scrollY: view.getInt32(32, true),
    jpeg: bytes.subarray(FRAME_HEADER_BYTES),
  };
}
