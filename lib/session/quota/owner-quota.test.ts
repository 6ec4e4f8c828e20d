import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eq } from "drizzle-orm";
import { evidence, requests, runs, sessions } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { newId } from "../new-id.ts";
import { createOwnerQuota, type OwnerLimits } from "./owner-quota.ts";
import { createWorkspaceSizes } from "./workspace-sizes.ts";

const { db, close } = await openTestDatabase();
after(close);

const MIB = 1_048_576;

function openQuota(limits: Partial<OwnerLimits>) {
  let now = 0;
  const all = { storedSessions: 0, openSessions: 0, storedBytes: 0, ...limits };
  return { ...createOwnerQuota(db, all, () => now), advance: (ms: number) => (now += ms) };
}

async function storeSession(ownerId: string): Promise<string> {
  const id = newId("ses");
  await db.insert(sessions).values(sessionRow({ id, ownerId }));
  return id;
}

async function storeOpenRun(sessionId: string): Promise<void> {
  const requestId = newId("req");
  await db
    .insert(requests)
    .values({ id: requestId, sessionId, position: 1, mode: "queue", origin: "external", bodyHash: "hash" });
  await db.insert(runs).values({ id: newId("run"), sessionId, requestId, attempt: 1, origin: "external" });
}

test("concurrent creations do not exceed the limit", async () => {
  const quota = openQuota({ storedSessions: 3 });
  await storeSession("crowd");
  const places = await Promise.all(Array.from({ length: 10 }, () => quota.admit("crowd")));
  assert.equal(places.filter(({ ok }) => ok).length, 2);
  const refused = places.find((place) => !place.ok);
  assert.ok(refused && !refused.ok);
  assert.match(
    refused.error,
    /^the owner of this key has 3 sessions; an owner may have 3 \(OWNER_STORED_SESSIONS\)/,
  );
  assert.equal((await quota.admit("somebody else")).ok, true);
});

test("an unused place is free again, and a used one is not", async () => {
  const quota = openQuota({ storedSessions: 1 });
  const first = await quota.admit("places");
  assert.ok(first.ok);
  assert.equal((await quota.admit("places")).ok, false);
  first.end(false);
  const second = await quota.admit("places");
  assert.ok(second.ok);
  await storeSession("places");
  second.end(true);
  assert.equal((await quota.admit("places")).ok, false);
});

test("a deletion frees a place at once, also if another process deleted the session", async () => {
  const quota = openQuota({ storedSessions: 1 });
  const id = await storeSession("deleting");
  assert.equal((await quota.admit("deleting")).ok, false);
  await db.delete(sessions).where(eq(sessions.id, id));
  const place = await quota.admit("deleting");
  assert.ok(place.ok);
  place.end(false);
  await storeSession("deleting");
  quota.forget("deleting");
  assert.equal((await quota.admit("deleting")).ok, false);
});

test("a session that is stored but not settled does not change which limit is named", async () => {
  const quota = openQuota({ storedSessions: 3, openSessions: 2 });
  await storeOpenRun(await storeSession("near"));
  const place = await quota.admit("near");
  assert.ok(place.ok);
  await storeOpenRun(await storeSession("near"));
  quota.forget("near");
  const refused = await quota.admit("near");
  assert.ok(!refused.ok);
  assert.match(refused.error, /OWNER_OPEN_SESSIONS/);
});

test("only sessions with an open turn count as open", async () => {
  const quota = openQuota({ openSessions: 1 });
  const id = await storeSession("turns");
  const place = await quota.admit("turns");
  assert.ok(place.ok);
  place.end(false);
  await storeOpenRun(id);
  quota.forget("turns");
  const refused = await quota.admit("turns");
  assert.ok(!refused.ok);
  assert.match(refused.error, /1 session with an open turn; an owner may have 1 \(OWNER_OPEN_SESSIONS\)/);
});

test("workspaces, evidence and annotations count as stored bytes", async () => {
  const quota = openQuota({ storedBytes: 3 * MIB });
  const id = await storeSession("bytes");
  const sizes = createWorkspaceSizes(db, { warn: assert.fail });
  sizes.note(id, 5 * MIB);
  sizes.note(id, 1 * MIB);
  await sizes.close();
  await db.insert(evidence).values({
    id: newId("evi"),
    sessionId: id,
    kind: "file",
    title: "a file",
    mediaType: "text/plain",
    sizeBytes: MIB,
    path: "evidence/none",
  });
  const place = await quota.admit("bytes");
  assert.ok(place.ok);
  place.end(false);
  await db.update(sessions).set({ annotationBytes: MIB }).where(eq(sessions.id, id));
  quota.forget("bytes");
  const refused = await quota.admit("bytes");
  assert.ok(!refused.ok);
  assert.match(refused.error, /have stored 3\.0 MiB; an owner may store 3\.0 MiB \(OWNER_STORED_MIB\)/);
});

test("without limits nothing is counted", async () => {
  const quota = createOwnerQuota(new Proxy(db, { get: () => assert.fail("a statement was sent") }), {
    storedSessions: 0,
    openSessions: 0,
    storedBytes: 0,
  });
  assert.equal((await quota.admit("anybody")).ok, true);
});
