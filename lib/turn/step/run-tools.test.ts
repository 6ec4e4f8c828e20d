import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { batchCalls } from "./run-tools.ts";

const call = (name: string, error?: string) => ({
  callId: name,
  name,
  input: {},
  ...(error !== undefined && { error }),
});
const batches = (...names: string[]) =>
  batchCalls(
    names.map((name) => call(name)),
    ({ name }) => name.startsWith("read"),
  ).map((batch) => batch.map(({ name }) => name));

describe("the calls of one message", () => {
  it("run concurrently if neighbours only read, and in order before and after a call that writes", () => {
    assert.deepEqual(batches("read1", "read2", "write1", "read3", "write2", "write3", "read4", "read5"), [
      ["read1", "read2"],
      ["write1"],
      ["read3"],
      ["write2"],
      ["write3"],
      ["read4", "read5"],
    ]);
  });

  it("run at most eight at a time", () => {
    const names = Array.from({ length: 20 }, (_, index) => `read${index}`);
    assert.deepEqual(
      batches(...names).map(({ length }) => length),
      [8, 8, 4],
    );
  });

  it("do not include calls with invalid input, which have already ended", () => {
    const calls = [call("read1"), call("read2", "wrong input"), call("read3")];
    assert.deepEqual(
      batchCalls(calls, () => true).map((batch) => batch.map(({ name }) => name)),
      [["read1", "read3"]],
    );
  });
});
