import assert from "node:assert/strict";
import { test } from "node:test";
import { createOutputWindow } from "./output-window.ts";

test("output is cut between characters, whatever their number of bytes", () => {
  for (const character of ["a", "é", "€", "🐈"])
    for (let bytesMax = 0; bytesMax <= 40; bytesMax++)
      for (const chunkBytes of [1, 3, 64]) {
        const output = Buffer.from(character.repeat(30));
        const window = createOutputWindow(bytesMax);
        for (let at = 0; at < output.length; at += chunkBytes)
          window.add(output.subarray(at, at + chunkBytes));
        const { text, truncated } = window.text();
        const about = `${character} ${bytesMax} ${chunkBytes}: ${text}`;
        assert.ok(!text.includes("\ufffd"), about);
        if (!truncated) {
          assert.equal(text, output.toString(), about);
          continue;
        }
        const [, start = "", missing = "", end = ""] =
          /^(.*)\n\[… (\d+) bytes left out …\]\n(.*)$/s.exec(text) ?? [];
        assert.equal(Buffer.byteLength(start + end) + Number(missing), output.length, about);
        assert.ok(Buffer.byteLength(start + end) <= bytesMax, about);
      }
});

test("bytes that are no text stay replaced, and do not hide the text around them", () => {
  const window = createOutputWindow(8);
  window.add(Buffer.from([0x61, 0xff, 0x80, 0x62, ...Buffer.from("left out"), 0x80, 0x80, 0x80, 0x80]));
  assert.equal(window.text().text, "a\ufffd\ufffdb\n[… 8 bytes left out …]\n\ufffd\ufffd\ufffd\ufffd");
});
