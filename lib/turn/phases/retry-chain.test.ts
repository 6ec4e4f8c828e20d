import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { planRetry } from "./retry-chain.ts";

const overloaded = { message: "overloaded", isRetryable: true };
const plan = (attempt: number, chance: number, retryAfterMs?: number) =>
  planRetry({ ...overloaded, ...(retryAfterMs !== undefined && { retryAfterMs }) }, attempt, 2_000, chance)
    ?.delayMs;

describe("the retry chain", () => {
  it("waits 2, 8, 32 and 60 s (four times longer each, at most 60), 20 % more or less", () => {
    const waits = [1, 2, 3, 4].map((attempt) => [0, 0.5, 1].map((chance) => plan(attempt, chance)));
    assert.deepEqual(waits, [
      [1_600, 2_000, 2_400],
      [6_400, 8_000, 9_600],
      [25_600, 32_000, 38_400],
      [48_000, 60_000, 72_000],
    ]);
  });

  it("is five runs long", () => assert.equal(plan(5, 0.5), undefined));

  it("waits at least as long as Retry-After asks for", () => {
    assert.equal(plan(1, 0.5, 45_000), 45_000);
    assert.equal(plan(1, 0.5, 500), 2_000);
    assert.equal(plan(1, 0.5, 9_999_999_999_999), 24 * 3_600_000, "a day at most");
  });

  it("does not begin for a failure that is not retryable", () => {
    assert.equal(planRetry({ message: "no such model", isRetryable: false }, 1, 2_000, 0.5), undefined);
  });
});
