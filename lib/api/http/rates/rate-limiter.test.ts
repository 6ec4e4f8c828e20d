import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createRateLimiter, rateHeaders } from "./rate-limiter.ts";

const limits = { create: 60, poll: 2, annotate: 0, act: 60 };
function openLimiter() {
  let now = 1_000_000;
  return { ...createRateLimiter(limits, () => now), advance: (ms: number) => (now += ms) };
}

describe("the rate limiter", () => {
  test("allows a bucket's whole limit at once, then refuses until it refills evenly", () => {
    const limiter = openLimiter();
    for (let left = 59; left >= 0; left--) assert.deepEqual(limiter.consume("create", "a")?.remaining, left);
    assert.deepEqual(limiter.consume("create", "a"), {
      isAllowed: false,
      limit: 60,
      remaining: 0,
      resetSeconds: 1,
    });
    limiter.advance(999);
    assert.equal(limiter.consume("create", "a")?.isAllowed, false);
    limiter.advance(1);
    assert.equal(limiter.consume("create", "a")?.isAllowed, true);
    assert.equal(limiter.consume("create", "a")?.isAllowed, false);
  });

  test("is not affected when the machine's clock is set back or forward by two days", (t) => {
    const DAYS_2 = 2 * 86_400_000;
    const startMs = Date.now();
    t.mock.timers.enable({ apis: ["Date"], now: startMs });
    for (const nowMs of [startMs - DAYS_2, startMs + DAYS_2]) {
      t.mock.timers.setTime(startMs);
      const limiter = createRateLimiter(limits);
      assert.equal(limiter.consume("poll", "a")?.isAllowed, true);
      t.mock.timers.setTime(nowMs);
      assert.equal(limiter.consume("poll", "a")?.isAllowed, true);
      assert.equal(limiter.consume("poll", "a")?.isAllowed, false);
    }
  });

  test("refills within a minute, and never beyond the limit", () => {
    const limiter = openLimiter();
    limiter.consume("poll", "a");
    limiter.advance(3_600_000);
    assert.equal(limiter.consume("poll", "a")?.remaining, 1);
  });

  test("counts each bucket and each subject separately", () => {
    const limiter = openLimiter();
    limiter.consume("poll", "a");
    limiter.consume("poll", "a");
    assert.equal(limiter.consume("poll", "a")?.isAllowed, false);
    assert.equal(limiter.consume("poll", "b")?.isAllowed, true);
    assert.equal(limiter.consume("create", "a")?.isAllowed, true);
  });

  test("does not limit a bucket whose limit is 0", () => {
    const limiter = openLimiter();
    for (let round = 0; round < 1_000; round++) assert.equal(limiter.consume("annotate", "a"), undefined);
  });

  test("evicts the least recently used subjects when there are too many", () => {
    const limiter = openLimiter();
    limiter.consume("poll", "busy");
    limiter.consume("poll", "busy");
    for (let index = 0; index < 20_000; index++) {
      limiter.consume("poll", `once ${index}`);
      if (index % 1_000 === 0) limiter.consume("poll", "busy");
    }
    assert.equal(limiter.consume("poll", "busy")?.isAllowed, false);
  });

  test("has headers with the client's remaining calls, and with the time to retry for a refused call", () => {
    const allowed = rateHeaders({ isAllowed: true, limit: 60, remaining: 59, resetSeconds: 1 });
    assert.deepEqual(allowed, {
      "RateLimit-Limit": "60",
      "RateLimit-Remaining": "59",
      "RateLimit-Reset": "1",
    });
    const refused = rateHeaders({ isAllowed: false, limit: 60, remaining: 0, resetSeconds: 0 });
    assert.equal(refused["Retry-After"], "1");
  });
});
