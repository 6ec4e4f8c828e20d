import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { bundleRuntime, runtimeFile } from "./build-runtime.mjs";

const BROTLI_BYTES_MAX = 7.5 * 1024;

test("the committed runtime of variants is current, small and without dependencies", async () => {
  const committed = await readFile(runtimeFile, "utf8");
  assert.equal(committed, await bundleRuntime(), "run `npm run build:runtime`");
  assert.doesNotMatch(committed, /\b(?:require|import)\s*\(/);
  const size = brotliCompressSync(committed).length;
  assert.ok(size <= BROTLI_BYTES_MAX, `${size} bytes`);
});
