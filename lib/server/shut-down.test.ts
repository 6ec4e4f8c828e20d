import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createShutdown } from "./shut-down.ts";

/** Creates a shutdown whose parts record that they were called. */
function setUp(overrides: { drain?: () => Promise<void>; close?: () => Promise<void> } = {}) {
  const calls: string[] = [];
  const record = (name: string) => async () => void calls.push(name);
  let now = 0;
  const shutdown = createShutdown({
    listener: { drain: record("refuse requests"), endStreams: record("end streams") },
    container: {
      drain: overrides.drain ?? record("drain turns"),
      close: overrides.close ?? record("close parts"),
    },
    server: { close: record("stop listening") as never, closeAllConnections: record("close connections") },
    pages: { close: record("close pages") },
    logger: { info: () => {}, error: () => {} } as never,
    graceMs: 10_000,
    exit: (code) => void calls.push(`exit ${code}`),
    now: () => now,
  });
  return { ...shutdown, calls, pass: (ms: number) => (now += ms) };
}

describe("a shutdown", () => {
  test("lets steps end before it ends streams and closes parts", async () => {
    const drained = Promise.withResolvers<void>();
    const { begin, calls } = setUp({ drain: () => drained.promise });
    const done = begin("SIGTERM", 143);
    assert.deepEqual(calls, ["refuse requests"]);
    drained.resolve();
    await done;
    assert.deepEqual(calls, [
      "refuse requests",
      "stop listening",
      "end streams",
      "close parts",
      "close connections",
      "close pages",
      "exit 0",
    ]);
  });

  test("ends at once at a second signal, but not if the same signal arrives twice", async () => {
    const { begin, calls, pass } = setUp({ drain: () => new Promise(() => {}) });
    void begin("SIGINT", 130);
    await begin("SIGINT", 130);
    assert.deepEqual(calls, ["refuse requests"]);
    pass(501);
    await begin("SIGINT", 130);
    assert.deepEqual(calls, ["refuse requests", "exit 130"]);
  });

  test("has the exit code 1 if a part cannot be closed", async () => {
    const { begin, calls } = setUp({ close: () => Promise.reject(new Error("stuck")) });
    await begin("SIGTERM", 143);
    assert.equal(calls.at(-1), "exit 1");
  });
});
