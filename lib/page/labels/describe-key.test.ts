import assert from "node:assert/strict";
import { test } from "node:test";
import { describeKey } from "./describe-key.ts";

const now = Date.parse("2026-11-20T12:00:00.000Z");
const key = { revokedAt: null, expiresAt: null, lastUsedAt: null };

test("a key is live until it is revoked or has expired", () => {
  assert.deepEqual(describeKey(key, now), { isLive: true, text: "never used, does not expire" });
  const used = { ...key, lastUsedAt: "2026-11-20T11:30:00.000Z", expiresAt: "2026-12-01T00:00:00.000Z" };
  assert.deepEqual(describeKey(used, now), {
    isLive: true,
    text: "used 30 min ago, expires 2026-12-01",
  });
  const expired = { ...key, expiresAt: "2026-11-20T12:00:00.000Z" };
  assert.deepEqual(describeKey(expired, now), { isLive: false, text: "expired" });
  const revoked = { ...expired, revokedAt: "2026-11-19T12:00:00.000Z" };
  assert.deepEqual(describeKey(revoked, now), { isLive: false, text: "revoked" });
});
