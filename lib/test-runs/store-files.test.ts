import assert from "node:assert/strict";
import { it } from "node:test";
import { createFileStore } from "./store-files.ts";
import type { TestFolder } from "./test-runs-deps.ts";

const MEBIBYTE = 2 ** 20;

it("a file that exceeds the limits is never read, even if a report names it many times", async () => {
  let bytesRead = 0;
  const folder: TestFolder = {
    async readFile(_path, limitBytes) {
      const bytes = new Uint8Array(Math.min(limitBytes, 20 * MEBIBYTE));
      bytesRead += bytes.byteLength;
      return { bytes, totalBytes: 20 * MEBIBYTE };
    },
  };
  const evidence = {
    save: async () => ({ id: "evi_1", kind: "file" as const, title: "", url: null, mediaType: "" }),
  };
  const keep = createFileStore({ evidence, folder }, { sessionId: "ses_a", runId: null });
  const problems = [];
  for (let count = 0; count < 20; count++)
    problems.push((await keep({ name: "f", mediaType: "text/plain", path: "f" }, "test")).problem);
  assert.deepEqual(problems.slice(4, 6), [null, "a test run keeps at most 100 MiB of files"]);
  assert.equal(bytesRead, 100 * MEBIBYTE);
});

it("a test run keeps at most 200 files", async () => {
  const folder: TestFolder = {
    readFile: async () => ({ bytes: new Uint8Array(1), totalBytes: 1 }),
  };
  let saved = 0;
  const evidence = {
    async save() {
      saved += 1;
      return { id: "evi_1", kind: "file" as const, title: "", url: null, mediaType: "" };
    },
  };
  const keep = createFileStore({ evidence, folder }, { sessionId: "ses_a", runId: null });
  const problems = [];
  for (let count = 0; count < 203; count++)
    problems.push((await keep({ name: "f", mediaType: "text/plain", path: "f" }, "test")).problem);
  assert.deepEqual(problems.slice(199), [null, ...Array(3).fill("a test run keeps at most 200 files")]);
  assert.equal(saved, 200);
});
