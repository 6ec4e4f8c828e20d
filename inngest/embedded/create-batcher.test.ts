import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBatcher } from "./create-batcher.ts";

/** Creates a batcher whose batches end when the test settles their promises. */
function createControlled() {
  const batches: { items: number[]; end: PromiseWithResolvers<void> }[] = [];
  const add = createBatcher((items: number[]) => {
    const end = Promise.withResolvers<void>();
    batches.push({ items, end });
    return end.promise;
  });
  return { add, batches, sizes: () => batches.map(({ items }) => items.length) };
}

describe("createBatcher", () => {
  it("processes the first items at once, and items that arrive meanwhile in one batch", async () => {
    const { add, batches } = createControlled();
    const first = add([1]);
    const others = [add([2]), add([3, 4])];
    assert.deepEqual(
      batches.map(({ items }) => items),
      [[1]],
    );
    batches[0]?.end.resolve();
    await first;
    assert.deepEqual(
      batches.map(({ items }) => items),
      [[1], [2, 3, 4]],
    );
    batches[1]?.end.resolve();
    await Promise.all(others);
    const last = add([5]);
    assert.equal(batches.length, 3);
    batches[2]?.end.resolve();
    await last;
  });

  it("settles each caller's promise with its batch, and continues after a failure", async () => {
    const { add, batches } = createControlled();
    const first = add([1]);
    const second = add([2]);
    batches[0]?.end.reject(new Error("lost"));
    await assert.rejects(first, /lost/);
    batches[1]?.end.resolve();
    await second;
  });

  it("lets the first item wait for more items, if it is set to linger", async () => {
    const batches: number[][] = [];
    const add = createBatcher(async (items: number[]) => void batches.push(items), 1);
    await Promise.all([add([1]), add([2])]);
    await add([3]);
    assert.deepEqual(batches, [[1, 2], [3]]);
  });

  it("divides very long batches between callers", async () => {
    const { add, batches, sizes } = createControlled();
    const all = [add([0]), ...Array.from({ length: 5 }, (_, at) => add(Array(90).fill(at)))];
    for (let at = 0; at < 4; at++) {
      batches[at]?.end.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    assert.deepEqual(sizes(), [1, 180, 180, 90]);
  });
});
