import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { shareTokens } from "#db/schema/index.ts";
import { SHARE_ROLES } from "#db/schema/unions.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createShareLinks, hashToken } from "./share-link.ts";
import { insertTestSession } from "./transcript-fixture.ts";

const { db, close } = await openTestDatabase();
after(close);
await insertTestSession(db, "ses_busy");
await insertTestSession(db, "ses_idle");

describe("a share link", () => {
  const links = createShareLinks(db, new Uint8Array(32).fill(1));
  const token = (sessionId: string, revocation = 0) => links.deriveToken(sessionId, revocation, "drive");

  test("of the session itself drives it, and holds at least 128 bits", async () => {
    assert.match(token("ses_busy"), /^[\w-]{22,}$/);
    assert.equal(links.sharePath("ses_busy", 0, "drive"), `/s/ses_busy?key=${token("ses_busy")}`);
    assert.equal(await links.readRole("ses_busy", token("ses_busy")), "drive");
  });

  test("of the session itself is another one for each role", async () => {
    for (const role of SHARE_ROLES)
      assert.equal(await links.readRole("ses_busy", links.deriveToken("ses_busy", 0, role)), role);
  });

  test("opens no other session, and none with another key or after a revocation", async () => {
    assert.equal(await links.readRole("ses_idle", token("ses_busy")), undefined);
    assert.equal(await links.readRole("ses_none", token("ses_none")), undefined);
    assert.equal(await links.readRole("ses_busy", token("ses_busy", 1)), undefined);
    for (const wrong of ["", "x", token("ses_busy").toUpperCase(), `${token("ses_busy")}x`])
      assert.equal(await links.readRole("ses_busy", wrong), undefined);
    const elsewhere = createShareLinks(db, new Uint8Array(32).fill(2));
    assert.equal(await elsewhere.readRole("ses_busy", token("ses_busy")), undefined);
  });

  test("made later has its own role, until it expires or is revoked", async () => {
    const [past, future] = [new Date(Date.now() - 1_000), new Date(Date.now() + 60_000)];
    await db.insert(shareTokens).values([
      { tokenHash: hashToken("watch"), sessionId: "ses_busy", role: "view" },
      { tokenHash: hashToken("remark"), sessionId: "ses_busy", role: "comment", expiresAt: future },
      { tokenHash: hashToken("old"), sessionId: "ses_busy", role: "drive", expiresAt: past },
      { tokenHash: hashToken("gone"), sessionId: "ses_busy", role: "drive", revokedAt: past },
    ]);
    const roles = await Promise.all(
      ["watch", "remark", "old", "gone"].map((key) => links.readRole("ses_busy", key)),
    );
    assert.deepEqual(roles, ["view", "comment", undefined, undefined]);
    assert.equal(await links.readRole("ses_idle", "watch"), undefined);
  });
});
