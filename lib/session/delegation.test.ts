import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { limitDelegation, resolveDelegation } from "./delegation.ts";

const deployment = { maxLiveChildren: 4, maxLiveBrowsers: 3 };
const caps = (maxLiveChildren: number, maxLiveBrowsers: number) => ({
  ok: true,
  caps: { maxLiveChildren, maxLiveBrowsers },
});

describe("the caps of a new session", () => {
  test("default for each field to the deployment value", () => {
    assert.deepEqual(resolveDelegation(undefined, deployment), caps(4, 3));
    assert.deepEqual(resolveDelegation({}, deployment), caps(4, 3));
    assert.deepEqual(resolveDelegation({ maxLiveChildren: 3 }, deployment), caps(3, 3));
    assert.deepEqual(resolveDelegation({ maxLiveBrowsers: 1 }, deployment), caps(4, 1));
  });

  test("an omitted maxLiveBrowsers is limited to the children cap and not rejected", () => {
    assert.deepEqual(resolveDelegation({ maxLiveChildren: 2 }, deployment), caps(2, 2));
    assert.deepEqual(resolveDelegation({ maxLiveChildren: 0 }, deployment), caps(0, 0));
    assert.deepEqual(resolveDelegation({}, { maxLiveChildren: 1, maxLiveBrowsers: 4 }), caps(1, 1));
  });

  test("a value above the ceiling is rejected, not clamped", () => {
    assert.deepEqual(resolveDelegation({ maxLiveChildren: 5 }, deployment), {
      ok: false,
      error: "delegation.maxLiveChildren: 5 exceeds the deployment ceiling DELEGATION_MAX_LIVE_CHILDREN=4",
    });
    assert.deepEqual(resolveDelegation({ maxLiveBrowsers: 4 }, deployment), {
      ok: false,
      error: "delegation.maxLiveBrowsers: 4 exceeds the deployment ceiling DELEGATION_MAX_LIVE_BROWSERS=3",
    });
  });

  test("maxLiveBrowsers must not exceed the children cap the session runs under", () => {
    assert.deepEqual(resolveDelegation({ maxLiveChildren: 1, maxLiveBrowsers: 2 }, deployment), {
      ok: false,
      error: "delegation.maxLiveBrowsers (2) must be <= maxLiveChildren (1)",
    });
    const few = { maxLiveChildren: 1, maxLiveBrowsers: 4 };
    assert.deepEqual(resolveDelegation({ maxLiveBrowsers: 2 }, few), {
      ok: false,
      error: "delegation.maxLiveBrowsers (2) must be <= maxLiveChildren (1)",
    });
    assert.deepEqual(resolveDelegation({ maxLiveChildren: 2, maxLiveBrowsers: 2 }, deployment), caps(2, 2));
  });
});

test("a lowered ceiling applies to existing sessions, a raised one does not", () => {
  const sessionCaps = { maxLiveChildren: 3, maxLiveBrowsers: 2 };
  assert.deepEqual(limitDelegation(sessionCaps, { maxLiveChildren: 8, maxLiveBrowsers: 8 }), sessionCaps);
  assert.deepEqual(limitDelegation(sessionCaps, { maxLiveChildren: 1, maxLiveBrowsers: 8 }), {
    maxLiveChildren: 1,
    maxLiveBrowsers: 1,
  });
  assert.deepEqual(limitDelegation(sessionCaps, { maxLiveChildren: 4, maxLiveBrowsers: 0 }), {
    maxLiveChildren: 3,
    maxLiveBrowsers: 0,
  });
});
