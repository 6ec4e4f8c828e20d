import assert from "node:assert/strict";
import { test } from "node:test";
import { shareReads } from "./read-page.ts";

/** Creates a function whose reads are shared. The test decides when each read ends. */
function createReads() {
  const started: { query: string; end: (result: number) => void; fail: () => void }[] = [];
  const read = shareReads(
    (query: string) => {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      started.push({ query, end: resolve, fail: () => reject(new Error("away")) });
      return promise;
    },
    (query) => query,
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { started, read, settle };
}

test("calls during a read share the next read", async () => {
  const { started, read, settle } = createReads();
  const first = read("a");
  const others = [read("a"), read("a"), read("a")];
  assert.equal(started.length, 1);
  started[0]?.end(1);
  await settle();
  assert.equal(started.length, 2);
  const last = read("a");
  started[1]?.end(2);
  await settle();
  started[2]?.end(3);
  assert.deepEqual(await Promise.all([first, ...others, last]), [1, 2, 2, 2, 3]);
  assert.equal(started.length, 3);
});

test("other queries are read in parallel", async () => {
  const { started, read } = createReads();
  const both = Promise.all([read("a"), read("b")]);
  for (const [index, { end }] of started.entries()) end(index);
  assert.deepEqual(await both, [0, 1]);
});

test("a failed read rejects only its own callers, and is not cached", async () => {
  const { started, read, settle } = createReads();
  const first = read("a");
  const second = read("a");
  started[0]?.fail();
  await assert.rejects(first, /away/);
  await settle();
  started[1]?.end(2);
  assert.equal(await second, 2);
  await settle();
  void read("a");
  assert.equal(started.length, 3);
});
