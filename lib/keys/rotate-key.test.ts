import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Database } from "#db/client.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createKeyStore } from "./key-store.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "./manage-keys.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let db: Database;
let closeDatabase: () => Promise<void>;
before(async () => {
  ({ db, close: closeDatabase } = await openTestDatabase());
});
after(() => closeDatabase());

const now = new Date();
const later = (ms: number) => new Date(now.getTime() + ms);

async function makeKey(lifetimeMs: number | null, ownerId = "acme") {
  const expiresAt = lifetimeMs === null ? null : later(lifetimeMs);
  const { record } = await createKey(db, { ownerId, name: "key", scopes: ["sessions:read"], expiresAt }, now);
  return record.id;
}

async function rotate(id: string, at = now, overlapMs = DAY_MS) {
  const rotated = await rotateKey(db, id, overlapMs, at);
  assert.ok(rotated.status === "rotated", rotated.status);
  return rotated;
}

test("a key that never expires has successors that never expire, also if it is rotated twice", async () => {
  const id = await makeKey(null);
  const first = await rotate(id);
  assert.equal(first.record.expiresAt, null);
  assert.equal(first.old.expiresAt, later(DAY_MS).toISOString());
  await revokeKey(db, first.record.id, now);
  const second = await rotate(id, later(HOUR_MS));
  assert.equal(second.record.expiresAt, null);
  assert.equal(second.old.expiresAt, later(DAY_MS).toISOString(), "the overlap is not extended");
});

test("a successor has the lifetime with which its key was created, for every generation", async () => {
  let id = await makeKey(30 * DAY_MS);
  for (const days of [10, 20, 45]) {
    const { record } = await rotate(id, later(days * DAY_MS), HOUR_MS);
    assert.equal(record.expiresAt, later((days + 30) * DAY_MS).toISOString());
    id = record.id;
  }
  const capped = await makeKey(30 * DAY_MS);
  const { record } = await rotate(capped, later(DAY_MS), HOUR_MS);
  await revokeKey(db, record.id, later(DAY_MS));
  const again = await rotate(capped, later(DAY_MS), HOUR_MS);
  assert.equal(again.record.expiresAt, later(31 * DAY_MS).toISOString());
});

test("a key has one valid successor at a time", async () => {
  const id = await makeKey(null);
  const { record } = await rotate(id);
  assert.deepEqual(await rotateKey(db, id, 0, now), { status: "succeeded", successorId: record.id });
  const old = (await listKeys(db)).find((key) => key.id === id);
  assert.equal(old?.expiresAt, later(DAY_MS).toISOString(), "a refused rotation changes nothing");
});

test("a successor that has expired can be replaced", async () => {
  const id = await makeKey(2 * DAY_MS);
  const { record } = await rotate(id, now, 30 * DAY_MS);
  const { record: next } = await rotate(record.id, now, 0);
  assert.notEqual((await rotate(id, later(HOUR_MS))).record.id, next.id);
});

test("six rotations at once create one successor, which stays valid", async () => {
  const id = await makeKey(null, "six");
  const results = await Promise.all(Array.from({ length: 6 }, () => rotateKey(db, id, 0, now)));
  const rotated = results.filter((result) => result.status === "rotated");
  assert.equal(rotated.length, 1);
  assert.equal((await listKeys(db, "six")).length, 2);
  const [only] = rotated;
  const holder = await createKeyStore(db).findHolder(only?.key ?? "");
  assert.deepEqual([holder?.keyId, holder?.expiresAt], [only?.record.id, null]);
  const others = await Promise.all(Array.from({ length: 6 }, () => makeKey(DAY_MS, "kept")));
  const kept = await Promise.all(others.map((each) => rotateKey(db, each, HOUR_MS, now)));
  assert.ok(
    kept.every(({ status }) => status === "rotated"),
    "other keys are not affected",
  );
});

test("six rotations at once with an overlap create one successor", async () => {
  const id = await makeKey(null, "overlap");
  const results = await Promise.all(Array.from({ length: 6 }, () => rotateKey(db, id, DAY_MS, now)));
  assert.deepEqual(
    results.map(({ status }) => status).sort(),
    ["rotated", ...Array(5).fill("succeeded")].sort(),
  );
});
