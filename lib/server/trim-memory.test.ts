import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keepMemoryTrimmed } from "./trim-memory.ts";

/** Looks every 100 ms; the CPU time of each look is given. */
function watch(t: {
  mock: { timers: { enable: (options: { apis: ["setInterval"] }) => void; tick: (ms: number) => void } };
}) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let cpuMs = 0;
  let collections = 0;
  const stop = keepMemoryTrimmed({
    readCpuMs: () => cpuMs,
    collect: () => {
      collections += 1;
      cpuMs += 30;
    },
    lookMs: 100,
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

describe("the memory of an idle process", () => {
  test("is given back once after work, and not while the work goes on", (t) => {
    const { pass } = watch(t);
    assert.deepEqual([pass(90), pass(400), pass(90)], [0, 0, 0]);
    assert.equal(pass(0.5), 1);
    assert.deepEqual([pass(0.5), pass(0.5)], [1, 1]);
  });

  test("is not worth a collection after little work", (t) => {
    const { pass } = watch(t);
    pass(600);
    assert.equal(pass(0), 1);
    pass(100);
    assert.equal(pass(0), 1);
    pass(450);
    assert.equal(pass(0), 2);
  });

  test("is left alone once the service ends", (t) => {
    const { pass, stop } = watch(t);
    pass(600);
    stop();
    assert.equal(pass(0), 0);
  });
});
