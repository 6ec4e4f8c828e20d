import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, describe, test } from "node:test";
import { apiKeys } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createKeyStore } from "#lib/keys/key-store.ts";
import { createAuthenticator } from "./authenticate.ts";

const { db, close } = await openTestDatabase();
const store = createKeyStore(db);
const authenticate = createAuthenticator([{ key: "configured", ownerId: "settings" }], store);
const secretOf = (letter: string) => letter.repeat(43);
const keyOf = (id: string, letter: string) => ({ "x-service-api-key": `ask_${id}_${secretOf(letter)}` });
const hash = (text: string) => createHash("sha256").update(text).digest("hex");

const scopes: string[] = [];
await db.insert(apiKeys).values([
  { id: "live", ownerId: "owner", scopes, secretHash: hash(secretOf("a")), name: "live" },
  { id: "next", ownerId: "owner", scopes, secretHash: hash(secretOf("b")), name: "next" },
  {
    id: "revoked",
    ownerId: "owner",
    scopes,
    secretHash: hash(secretOf("c")),
    name: "revoked",
    revokedAt: new Date(),
  },
  {
    id: "expired",
    ownerId: "owner",
    scopes,
    secretHash: hash(secretOf("d")),
    name: "expired",
    expiresAt: new Date(0),
  },
]);
let isClosed = false;
after(() => (isClosed ? undefined : close()));

const check = async (headers: Record<string, string>) => {
  const checked = await authenticate(new Headers(headers));
  return checked.ok ? checked.caller.ownerId : checked.code;
};

describe("an API key", () => {
  test("of the settings and of the store is accepted in either header", async () => {
    assert.equal(await check({ authorization: "Bearer configured" }), "settings");
    assert.equal(await check({ "x-service-api-key": "configured" }), "settings");
    assert.equal(await check({ authorization: `Bearer ask_live_${secretOf("a")}` }), "owner");
    assert.equal(await check(keyOf("live", "a")), "owner");
  });

  test("and its successor are both accepted during a rotation", async () => {
    assert.equal(await check(keyOf("next", "b")), "owner");
  });

  test("that has another key's secret, is revoked or has expired is unauthorized", async () => {
    for (const headers of [
      keyOf("live", "b"),
      keyOf("revoked", "c"),
      keyOf("expired", "d"),
      keyOf("none", "a"),
      {},
    ])
      assert.equal(await check(headers), "unauthorized");
  });

  test("has the time of its last use", async () => {
    const rows = await db.select().from(apiKeys);
    const lastUsed = new Map(rows.map((row) => [row.id, row.lastUsedAt]));
    assert.ok(lastUsed.get("live"));
    assert.equal(lastUsed.get("revoked"), null);
  });
});

describe("an unreachable key store", () => {
  test("that does not answer in time is auth_unavailable, never unauthorized", async () => {
    const authenticateSilently = createAuthenticator(
      [],
      { findHolder: () => new Promise(() => {}), readLive: async () => new Map() },
      10,
    );
    const checked = await authenticateSilently(new Headers(keyOf("live", "a")));
    assert.deepEqual(checked.ok ? undefined : checked.code, "auth_unavailable");
  });

  test("that fails is auth_unavailable for well-formed and malformed keys; keys of the settings work", async () => {
    await close();
    isClosed = true;
    assert.equal(await check(keyOf("live", "a")), "auth_unavailable");
    assert.equal(await check({ authorization: "Bearer nonsense" }), "auth_unavailable");
    assert.equal(await check({ authorization: "Bearer configured" }), "settings");
    assert.equal(await check({}), "unauthorized");
  });
});
