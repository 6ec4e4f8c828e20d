import assert from "node:assert/strict";
import { test } from "node:test";
import sharp from "sharp";
import { copyForModel, divideForModel, readPictureSize } from "./model-copy.ts";

/** A PNG whose rows have the colour of their hundred: red is the number of the hundred. */
async function makeStripes(width: number, height: number): Promise<Uint8Array> {
  const pixels = Buffer.alloc(width * height * 3);
  for (let row = 0; row < height; row++)
    for (let column = 0; column < width; column++)
      pixels[(row * width + column) * 3] = 2 * Math.floor(row / 100);
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

test("a picture is divided only if it is not readable as a whole, into parts that cover it", () => {
  assert.deepEqual(divideForModel({ width: 1280, height: 720 }), {
    scale: 1,
    parts: [{ top: 0, height: 720 }],
  });
  assert.deepEqual(divideForModel({ width: 3136, height: 1000 }), {
    scale: 0.5,
    parts: [{ top: 0, height: 1000 }],
  });
  assert.equal(divideForModel({ width: 1280, height: 2000 }).parts.length, 1);
  for (const [width, height] of [
    [1280, 2_200],
    [1280, 16_000],
    [390, 6_001],
    [3840, 16_000],
  ] as const) {
    const { scale, parts } = divideForModel({ width, height });
    assert.equal(scale, Math.min(1, 1_568 / width));
    let end = 0;
    for (const part of parts) {
      assert.equal(part.top, end);
      assert.ok(part.height * scale <= 1_569, `${width}×${height}: ${part.height}`);
      end += part.height;
    }
    assert.equal(end, height);
  }
});

test("the copy of a part has its rows, and a small picture stays as it is", async () => {
  const bytes = await makeStripes(1280, 5_000);
  const { parts } = divideForModel({ width: 1280, height: 5_000 });
  const [, second] = parts;
  assert.ok(second && parts.length === 4);
  const copy = await copyForModel({ bytes, mediaType: "image/png" }, second);
  assert.ok(copy);
  assert.equal(copy.mediaType, "image/jpeg");
  assert.deepEqual(await readPictureSize(copy.bytes), { width: 1280, height: second.height });
  const [red] = await sharp(copy.bytes).extract({ left: 600, top: 50, width: 1, height: 1 }).raw().toBuffer();
  assert.ok(Math.abs((red ?? 0) - 2 * Math.floor((second.top + 50) / 100)) <= 2, String(red));
  const small = { bytes: await makeStripes(100, 100), mediaType: "image/png" };
  assert.equal(await copyForModel(small), small);
});

test("a picture without a part is scaled to the limit of models", async () => {
  const copy = await copyForModel({ bytes: await makeStripes(1280, 5_000), mediaType: "image/png" });
  assert.deepEqual(copy && (await readPictureSize(copy.bytes)), { width: 401, height: 1_568 });
});

test("a broken picture has no copy, and other bytes are not touched", async () => {
  const whole = await makeStripes(1280, 5_000);
  assert.equal(await copyForModel({ bytes: whole.subarray(0, 2_000), mediaType: "image/png" }), undefined);
  const other = { bytes: Buffer.from("text"), mediaType: "image/png" };
  assert.equal(await copyForModel(other), other);
});
