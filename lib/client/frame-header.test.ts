import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeFrame, encodeFrame, FRAME_HEADER_BYTES } from "./frame-header.ts";

const frame = {
  sequence: 4_000_000_000,
  capturedAtMs: 1_795_000_000_123.5,
  width: 1280,
  height: 800,
  deviceScale: 1.5,
  scrollX: -3,
  scrollY: 70_000,
  jpeg: new Uint8Array([0xff, 0xd8, 1, 2, 3]),
};

test("a frame decodes to what was encoded", () => {
  assert.deepEqual(decodeFrame(encodeFrame(frame)), frame);
  assert.deepEqual(decodeFrame(encodeFrame(frame).buffer), frame);
});

test("a frame is read from the middle of a larger buffer", () => {
  const padded = new Uint8Array(FRAME_HEADER_BYTES + 5 + 7);
  padded.set(encodeFrame(frame), 7);
  assert.deepEqual(decodeFrame(padded.subarray(7)), frame);
});

test("the first four bytes read ASF1", () => {
  assert.equal(Buffer.from(encodeFrame(frame).subarray(0, 4)).toString(), "ASF1");
});

test("other bytes are not decoded", () => {
  const other = encodeFrame(frame);
  other[0] = 0x42;
  const newerVersion = encodeFrame(frame);
  newerVersion[4] = 2;
  for (const bytes of [
    other,
    newerVersion,
    new Uint8Array(0),
    encodeFrame(frame).subarray(0, FRAME_HEADER_BYTES),
  ]) {
    assert.equal(decodeFrame(bytes), undefined);
  }
});
