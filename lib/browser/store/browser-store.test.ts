import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { browserHosts, sessions } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { findSelectedUrl } from "#lib/session/store/selected-url-store.ts";
import { insertTestHost, insertTestSession } from "../testing.ts";
import {
  moveBrowser,
  openBrowserRow,
  patchBrowser,
  readBrowser,
  readHostedBrowser,
  selectPage,
} from "./browser-store.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const self = { hostId: "bh_this", change: "change 1" };

async function newBrowser(): Promise<string> {
  const id = await insertTestSession(database.db);
  await database.db.transaction((tx) => openBrowserRow(tx, id, null));
  return id;
}

test("a move succeeds only from the expected state", async () => {
  const id = await newBrowser();
  const idle = { sessionId: id, status: "idle", hostId: null } as const;
  await database.db.transaction(async (tx) => {
    assert.equal((await moveBrowser(tx, self, idle, "provision"))?.status, "creating");
    assert.equal(await moveBrowser(tx, self, idle, "provision"), undefined);
    await assert.rejects(moveBrowser(tx, self, idle, "reaped"), /no move from idle by reaped/);
  });
  assert.equal((await readBrowser(database.db, id))?.status, "creating");
});

test("the host that provisions a browser is recorded until the browser has ended, and no other host writes to it", async () => {
  const id = await newBrowser();
  const hostId = await insertTestHost(database.db);
  const host = { hostId, change: "change 1" };
  const other = { hostId: "bh_other", change: "change 2" };
  await database.db.transaction(async (tx) => {
    const creating = await moveBrowser(
      tx,
      host,
      { sessionId: id, status: "idle", hostId: null },
      "provision",
    );
    assert.deepEqual([creating?.hostId, creating?.lastChange], [hostId, "change 1"]);
    assert.ok(creating);
    assert.equal(await moveBrowser(tx, host, { ...creating, hostId: other.hostId }, "cameUp"), undefined);
    const ready = await moveBrowser(tx, host, creating, "cameUp");
    assert.equal(ready?.hostId, hostId);
    assert.equal(await patchBrowser(tx, other, id, { lastError: "not mine" }), undefined);
    assert.equal((await readHostedBrowser(tx, id))?.isLost, false);
    await tx.delete(browserHosts).where(eq(browserHosts.id, hostId));
    assert.equal((await readHostedBrowser(tx, id))?.isLost, true);
    assert.ok(ready);
    assert.equal((await moveBrowser(tx, host, ready, "reaped"))?.hostId, null);
    assert.equal((await readHostedBrowser(tx, id))?.isLost, false);
  });
});

test("fields are written only to a ready browser, and never for an older retarget", async () => {
  const id = await newBrowser();
  await database.db.transaction(async (tx) => {
    assert.equal(await patchBrowser(tx, self, id, { lastError: "too early" }), undefined);
    await moveBrowser(tx, self, { sessionId: id, status: "idle", hostId: null }, "provision");
    await moveBrowser(tx, self, { sessionId: id, status: "creating", hostId: self.hostId }, "cameUp");
    const older = await selectPage(tx, id, "https://a.example/");
    const newer = await selectPage(tx, id, "https://b.example/");
    assert.equal(await patchBrowser(tx, self, id, { lastError: "old" }, older.retargets), undefined);
    assert.equal((await patchBrowser(tx, self, id, { lastError: "new" }, newer.retargets))?.lastError, "new");
  });
});

test("a known target page is not added again", async () => {
  const id = await insertTestSession(database.db, {
    targetUrl: "https://first.example/",
    targetPageUrls: ["https://b.example/"],
  });
  for (const url of [
    "https://first.example/",
    "https://b.example/",
    "https://c.example/",
    "https://c.example/",
  ]) {
    await database.db.transaction((tx) => selectPage(tx, id, url));
  }
  const [row] = await database.db.select().from(sessions).where(eq(sessions.id, id));
  assert.deepEqual(row?.targetPageUrls, ["https://b.example/", "https://c.example/"]);
  assert.equal((await readBrowser(database.db, id))?.retargets, 4);
});

test("the selected page is that of the last retarget, without one the target or the first target page", async () => {
  const { db } = database;
  const [a, b] = ["https://a.example/", "https://b.example/"];
  const cases: [string | null, string[], string | null][] = [
    [a, [b], a],
    [null, [b, a], b],
    [null, [], null],
  ];
  for (const [targetUrl, targetPageUrls, selected] of cases) {
    const id = await insertTestSession(db);
    await db.update(sessions).set({ targetUrl, targetPageUrls }).where(eq(sessions.id, id));
    assert.equal(await findSelectedUrl(db, id), selected);
    await db.transaction((tx) => openBrowserRow(tx, id, selected));
    assert.equal(await findSelectedUrl(db, id), selected);
    await db.transaction((tx) => selectPage(tx, id, "https://c.example/"));
    assert.equal(await findSelectedUrl(db, id), "https://c.example/");
  }
});
