import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fail } from "../http/errors.ts";
import { createFailedAttempts } from "./failed-attempts.ts";

const refusal = fail("unauthorized", "send a valid key");
const client = (peer: string) => ({ peer, forwardedFor: null });

function openAttempts(limit: number) {
  let now = 1_000_000;
  const attempts = createFailedAttempts({ limit, trustedProxies: [], now: () => now });
  return {
    fail: (peer: string) => attempts.refuse(client(peer), refusal),
    advance: (ms: number) => (now += ms),
  };
}

describe("failed authentications", () => {
  test("are answered 429 beyond the limit, until the oldest failure is a minute ago", () => {
    const attempts = openAttempts(3);
    assert.equal(attempts.fail("203.0.113.7"), refusal);
    attempts.advance(20_000);
    for (let times = 0; times < 2; times++) assert.equal(attempts.fail("203.0.113.7"), refusal);
    const limited = attempts.fail("203.0.113.7");
    assert.deepEqual([limited.code, limited.headers], ["rate_limited", { "Retry-After": "40" }]);
    assert.match(limited.error, /^too many failed authentications from this address; try again in 40 s$/);
    attempts.advance(39_999);
    assert.equal(attempts.fail("203.0.113.7").code, "rate_limited");
    attempts.advance(1);
    assert.equal(attempts.fail("203.0.113.7"), refusal);
    // The window slides, so the two failures at 20 s and the new one still count.
    assert.equal(attempts.fail("203.0.113.7").code, "rate_limited");
  });

  test("are counted per IPv4 address, and per network for IPv6", () => {
    const attempts = openAttempts(1);
    assert.equal(attempts.fail("203.0.113.7"), refusal);
    assert.equal(attempts.fail("203.0.113.8"), refusal);
    assert.equal(attempts.fail("2001:db8::1"), refusal);
    assert.equal(attempts.fail("2001:db8::2").code, "rate_limited");
  });

  test("are remembered for a bounded number of addresses, including the one that failed last", () => {
    const attempts = openAttempts(1);
    attempts.fail("203.0.113.7");
    for (let index = 0; index < 10_000; index++) attempts.fail(`10.1.${index >> 8}.${index & 255}`);
    assert.equal(attempts.fail("10.1.39.15").code, "rate_limited");
    assert.equal(attempts.fail("203.0.113.7"), refusal);
  });

  test("are not counted without a limit or an address", () => {
    const off = openAttempts(0);
    for (let times = 0; times < 100; times++) assert.equal(off.fail("203.0.113.7"), refusal);
    const attempts = createFailedAttempts({ limit: 1, trustedProxies: [] });
    for (let times = 0; times < 3; times++)
      assert.equal(attempts.count({ peer: undefined, forwardedFor: "203.0.113.7" }), undefined);
  });
});
