import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { shareTokens } from "#db/schema/index.ts";
import { SHARE_ROLES } from "#db/schema/unions.ts";
import { openTestDatabase } from "#db/testing.ts";
import { countLiveShareLinks, revokeAllShares } from "../store/share-store.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";
import { createShareLink, LIVE_LINKS_MAX } from "./manage-share-links.ts";
import { createShareLinks, hashToken } from "./share-link.ts";

const { db, close } = await openTestDatabase();
after(close);
await insertTestSession(db, "ses_busy");
await insertTestSession(db, "ses_idle");

describe("a share link", () => {
  const links = createShareLinks(db, new Uint8Array(32).fill(1));
  const roleOf = async (sessionId: string, text: string) => (await links.readAccess(sessionId, text))?.role;
  const token = (sessionId: string, revocation = 0) => links.deriveToken(sessionId, revocation, "drive");

  test("derived for the drive role has that role, and at least 128 bits", async () => {
    assert.match(token("ses_busy"), /^[\w-]{22,}$/);
    assert.equal(links.sharePath("ses_busy", 0, "drive"), `/s/ses_busy?key=${token("ses_busy")}`);
    assert.equal(await roleOf("ses_busy", token("ses_busy")), "drive");
  });

  test("is different for each role", async () => {
    for (const role of SHARE_ROLES)
      assert.equal(await roleOf("ses_busy", links.deriveToken("ses_busy", 0, role)), role);
  });

  test("does not open other sessions, and is invalid with another key or after a revocation", async () => {
    assert.equal(await roleOf("ses_idle", token("ses_busy")), undefined);
    assert.equal(await roleOf("ses_none", token("ses_none")), undefined);
    assert.equal(await roleOf("ses_busy", token("ses_busy", 1)), undefined);
    for (const wrong of ["", "x", token("ses_busy").toUpperCase(), `${token("ses_busy")}x`])
      assert.equal(await roleOf("ses_busy", wrong), undefined);
    const elsewhere = createShareLinks(db, new Uint8Array(32).fill(2));
    assert.equal(await elsewhere.readAccess("ses_busy", token("ses_busy")), undefined);
  });

  test("from before a key rotation is valid until the previous key is removed; new links use the new key", async () => {
    const [oldKey, newKey] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(3)];
    const rotated = createShareLinks(db, newKey, [oldKey]);
    for (const role of SHARE_ROLES)
      assert.equal(
        (await rotated.readAccess("ses_busy", links.deriveToken("ses_busy", 0, role)))?.role,
        role,
      );
    assert.equal(
      await rotated.readAccess("ses_busy", token("ses_busy", 1)),
      undefined,
      "a revoked link of the previous key stays invalid",
    );
    const newToken = rotated.deriveToken("ses_busy", 0, "drive");
    assert.equal((await createShareLinks(db, newKey).readAccess("ses_busy", newToken))?.role, "drive");
    assert.equal(await links.readAccess("ses_busy", newToken), undefined);
    assert.equal(await createShareLinks(db, newKey).readAccess("ses_busy", token("ses_busy")), undefined);
  });

  test("created separately has its own role until it expires or is revoked", async () => {
    const [past, future] = [new Date(Date.now() - 1_000), new Date(Date.now() + 60_000)];
    await db.insert(shareTokens).values([
      { id: "lnk_1", tokenHash: hashToken("watch"), sessionId: "ses_busy", role: "view" },
      {
        id: "lnk_2",
        tokenHash: hashToken("remark"),
        sessionId: "ses_busy",
        role: "comment",
        expiresAt: future,
      },
      { id: "lnk_3", tokenHash: hashToken("old"), sessionId: "ses_busy", role: "drive", expiresAt: past },
      { id: "lnk_4", tokenHash: hashToken("gone"), sessionId: "ses_busy", role: "drive", revokedAt: past },
    ]);
    const roles = await Promise.all(
      ["watch", "remark", "old", "gone"].map((text) => roleOf("ses_busy", text)),
    );
    assert.deepEqual(roles, ["view", "comment", undefined, undefined]);
    assert.equal(await roleOf("ses_idle", "watch"), undefined);
  });

  test("to the live view is stable until a revocation, and opens only the live view", async () => {
    const path = links.liveViewPath("ses_busy", 0);
    assert.equal(links.liveViewPath("ses_busy", 0), path);
    assert.match(path, /^\/s\/ses_busy\/live\?key=[\w-]{22,}$/);
    const key = path.split("key=")[1] ?? "";
    assert.deepEqual(await links.readAccess("ses_busy", key), {
      role: "view",
      scope: "live-view",
      linkId: null,
      revocation: 0,
      expiresAt: null,
      label: null,
      embedOrigins: null,
    });
    assert.equal(await links.readAccess("ses_idle", key), undefined);
    assert.notEqual(links.liveViewPath("ses_busy", 1), path);
  });

  test("is revoked together with all others", async () => {
    await insertTestSession(db, "ses_shared");
    const link = {
      sessionId: "ses_shared",
      role: "comment",
      label: null,
      embedOrigins: null,
      expiresAt: null,
    } as const;
    const created = await createShareLink(db, link);
    const liveKey = links.liveViewPath("ses_shared", 0).split("key=")[1] ?? "";
    const tokens = [created?.token ?? "", token("ses_shared"), liveKey];
    for (const text of tokens) assert.ok(await links.readAccess("ses_shared", text));
    assert.deepEqual(await revokeAllShares(db, "ses_shared", new Date()), {
      revocation: 1,
      links: 1,
      agentIds: [],
    });
    for (const text of tokens) assert.equal(await links.readAccess("ses_shared", text), undefined);
    assert.equal(await roleOf("ses_shared", token("ses_shared", 1)), "drive");
    assert.equal(await revokeAllShares(db, "ses_none", new Date()), undefined);
  });
});

test("links that are created at the same time do not exceed the limit", async () => {
  await insertTestSession(db, "ses_linked");
  const create = () =>
    createShareLink(db, {
      sessionId: "ses_linked",
      role: "view",
      label: null,
      embedOrigins: null,
      expiresAt: null,
    });
  for (let created = 0; created < LIVE_LINKS_MAX - 5; created++) assert.ok(await create());
  const links = await Promise.all(Array.from({ length: 20 }, create));
  assert.equal(links.filter((link) => link !== undefined).length, 5);
  assert.equal(await countLiveShareLinks(db, "ses_linked", new Date()), LIVE_LINKS_MAX);
});
