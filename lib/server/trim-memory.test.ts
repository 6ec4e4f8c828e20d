import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { trimMemoryRegularly } from "./trim-memory.ts";

/**
 * Starts checks every 100 ms with a fake CPU clock. `pass` adds CPU time, runs one check, and returns how many
 * collections there were.
 */
function watch(t: {
  mock: { timers: { enable: (options: { apis: ["setInterval"] }) => void; tick: (ms: number) => void } };
}) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let cpuMs = 0;
  let collections = 0;
  const stop = trimMemoryRegularly({
    readCpuMs: () => cpuMs,
    collect: () => {
      collections += 1;
      cpuMs += 30;
    },
    intervalMs: 100,
  });
  return {
    stop,
    pass(workMs: number) {
      cpuMs += workMs;
      t.mock.timers.tick(100);
      return collections;
    },
  };
}

describe("trimMemoryRegularly", () => {
  test("collects once after work, and not while the work continues", (t) => {
    const { pass } = watch(t);
    assert.deepEqual([pass(90), pass(400), pass(90)], [0, 0, 0]);
    assert.equal(pass(0.5), 1);
    assert.deepEqual([pass(0.5), pass(0.5)], [1, 1]);
  });

  test("does not collect after little work", (t) => {
    const { pass } = watch(t);
    pass(600);
    assert.equal(pass(0), 1);
    pass(100);
    assert.equal(pass(0), 1);
    pass(450);
    assert.equal(pass(0), 2);
  });

  test("does not collect after it was stopped", (t) => {
    const { pass, stop } = watch(t);
    pass(600);
    stop();
    assert.equal(pass(0), 0);
  });
});
