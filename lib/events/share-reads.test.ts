import assert from "node:assert/strict";
import { test } from "node:test";
import { shareReads } from "./read-page.ts";

/** Reads that end when they are told to. */
function createReads() {
  const begun: { asked: string; end: (found: number) => void; fail: () => void }[] = [];
  const read = shareReads(
    (asked: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      begun.push({ asked, end: resolve, fail: () => reject(new Error("away")) });
      return promise;
    },
    (asked) => asked,
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, read, settle };
}

test("whoever asks while a read is under way shares the next one", async () => {
  const { begun, read, settle } = createReads();
  const first = read("a");
  const others = [read("a"), read("a"), read("a")];
  assert.equal(begun.length, 1);
  begun[0]?.end(1);
  await settle();
  assert.equal(begun.length, 2);
  const last = read("a");
  begun[1]?.end(2);
  await settle();
  begun[2]?.end(3);
  assert.deepEqual(await Promise.all([first, ...others, last]), [1, 2, 2, 2, 3]);
  assert.equal(begun.length, 3);
});

test("other questions are read beside it", async () => {
  const { begun, read } = createReads();
  const both = Promise.all([read("a"), read("b")]);
  for (const [index, { end }] of begun.entries()) end(index);
  assert.deepEqual(await both, [0, 1]);
});

test("a read that fails fails only those who asked for it, and is forgotten", async () => {
  const { begun, read, settle } = createReads();
  const first = read("a");
  const second = read("a");
  begun[0]?.fail();
  await assert.rejects(first, /away/);
  await settle();
  begun[1]?.end(2);
  assert.equal(await second, 2);
  await settle();
  void read("a");
  assert.equal(begun.length, 3);
});
