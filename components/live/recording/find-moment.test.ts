import assert from "node:assert/strict";
import { test } from "node:test";
import { findMoment } from "./find-moment.ts";

const at = (second: number, callId: string | null = null) => ({
  callId,
  takenAt: new Date(second * 1_000).toISOString(),
});
const PICTURES = [at(1), at(5, "a"), at(9, "b"), at(9.5, "b")];

test("a call shows its own last picture, else the last picture before its end, else the first", () => {
  const find = (callId: string, second: number) => findMoment(PICTURES, { callId, atMs: second * 1_000 });
  assert.equal(find("b", 9), 3);
  assert.equal(find("a", 5), 1);
  assert.equal(find("unchanged", 7), 1);
  assert.equal(find("later", 100), 3);
  assert.equal(find("earlier", 0.5), 0);
});
