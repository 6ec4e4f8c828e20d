import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { createRequestSweep } from "./sweep-with-requests.ts";

const REQUEST_CONTEXT = Symbol.for("@vercel/request-context");
const globals = globalThis as { [REQUEST_CONTEXT]?: unknown };
afterEach(() => {
  delete globals[REQUEST_CONTEXT];
});

test("the first request of a minute sweeps, the platform waits for it, and a failure is logged", async () => {
  const waited: Promise<unknown>[] = [];
  globals[REQUEST_CONTEXT] = {
    get: () => ({ waitUntil: (work: Promise<unknown>) => void waited.push(work) }),
  };
  let now = 0;
  let sweeps = 0;
  const warnings: unknown[] = [];
  const sweepWithRequest = createRequestSweep({
    everyMs: 60_000,
    async work() {
      sweeps += 1;
      if (sweeps === 2) throw new Error("unreachable");
    },
    logger: { warn: (fields: unknown) => void warnings.push(fields) },
    nowMs: () => now,
  });
  for (const at of [0, 1, 59_999, 60_000, 60_001]) {
    now = at;
    sweepWithRequest();
  }
  await Promise.all(waited);
  assert.deepEqual([sweeps, waited.length, warnings.length], [2, 2, 1]);
});
