import assert from "node:assert/strict";
import { test } from "node:test";
import { createRedirectWatch } from "./redirect-watch.ts";

function watchAt(): { watch: ReturnType<typeof createRedirectWatch>; wait: (ms: number) => void } {
  let nowMs = 1_000;
  return { watch: createRedirectWatch(() => nowMs), wait: (ms) => (nowMs += ms) };
}

test("a new address before the page has loaded, or a moment after, is a redirect", () => {
  const { watch, wait } = watchAt();
  watch.begin();
  wait(5_000);
  assert.equal(watch.isOpen(), true);
  watch.loaded();
  wait(900);
  assert.equal(watch.isOpen(), true);
});

test("a later one is not a redirect", () => {
  const { watch, wait } = watchAt();
  watch.begin();
  watch.loaded();
  wait(1_001);
  assert.equal(watch.isOpen(), false);
  watch.loaded();
  assert.equal(watch.isOpen(), false);
});

test("one after the agent or a person used the page is not a redirect", () => {
  const { watch } = watchAt();
  watch.begin();
  watch.end();
  assert.equal(watch.isOpen(), false);
});
