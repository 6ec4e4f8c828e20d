import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import { browsers as browserRows, sessions, siteData } from "#db/schema/index.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";
import { ORIGIN_BYTES_MAX } from "./site-data.ts";

/** Pages whose scripts report at once what they find: a cookie, a token in local storage, a database. */
const HTML = `<!doctype html><title>Site</title><body><script>
window.atStart = { token: localStorage.getItem("token"), cookie: document.cookie };
window.openDatabase = (version, upgrade) => new Promise((resolve, reject) => {
  const request = indexedDB.open("app", version);
  request.onupgradeneeded = () => upgrade(request.result);
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
window.done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});
</script>`;

let site: Awaited<ReturnType<typeof startTestSite>>;
let fixture: TestBrowsers;

before(async () => {
  site = await startTestSite((request, response) => {
    const headers: Record<string, string | string[]> = { "content-type": "text/html" };
    if (request.url === "/login")
      headers["set-cookie"] = ["session=secret; HttpOnly; Path=/", "theme=dark; Max-Age=86400"];
    if (request.url === "/hop") headers.refresh = `0; url=http://localhost:${site.port}/app`;
    response.writeHead(200, headers);
    const frame =
      request.url === "/framed" ? `<iframe src="http://localhost:${site.port}/in-frame"></iframe>` : "";
    const hop = request.url === "/hop" ? `<script>localStorage.setItem("hop", "left at once")</script>` : "";
    response.end(`${HTML}<p id=cookie>${request.headers.cookie ?? "none"}</p>${frame}${hop}`);
  });
  fixture = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`], { idleMs: 0 });
});
after(async () => {
  await fixture?.close();
  await site?.close();
});

const at = (path: string) => `${site.origin}${path}`;
const other = (path: string) => `http://localhost:${site.port}${path}`;
const rowsOf = (sessionId: string) =>
  fixture.db.select().from(siteData).where(eq(siteData.sessionId, sessionId));
const namesOf = async (sessionId: string) => (await rowsOf(sessionId)).map(({ name }) => name).sort();

/** Ends the session's browser because it is idle, and starts the next one. */
async function restart(sessionId: string) {
  await fixture.browsers.reapIdle();
  return fixture.browsers.ensure(sessionId);
}

test("a login, local storage and a database are there again before the page's scripts run", async () => {
  const sessionId = await insertTestSession(fixture.db, { targetUrl: at("/login") });
  const first = await fixture.browsers.ensure(sessionId);
  await first.page().evaluate(async () => {
    localStorage.setItem("token", "t-1");
    const page = window as unknown as {
      openDatabase: (version: number, upgrade: (db: IDBDatabase) => void) => Promise<IDBDatabase>;
      done: (request: IDBRequest) => Promise<unknown>;
    };
    const database = await page.openDatabase(3, (db) => {
      const mails = db.createObjectStore("mails", { keyPath: ["box", "id"] });
      mails.createIndex("tags", "tags", { multiEntry: true });
      db.createObjectStore("log", { autoIncrement: true });
    });
    const transaction = database.transaction(["mails", "log"], "readwrite");
    const shared = { bytes: new Uint8Array([1, 2, 3]).subarray(1) };
    transaction.objectStore("mails").put({
      box: "in",
      id: 7,
      tags: ["a", "b"],
      at: new Date(5),
      map: new Map<unknown, unknown>([[1, new Set([1n])]]),
      pair: [shared, shared],
      blob: new Blob(["hi"], { type: "text/plain" }),
      none: undefined,
    });
    await page.done(transaction.objectStore("log").put("first"));
  });
  const second = await restart(sessionId);
  assert.match(
    fixture.browsers.takeRestartNote(sessionId) ?? "",
    /^The browser was restarted and shows "http:\S+\/login" now; logins were restored, and what was typed into forms is lost\.$/,
  );
  const found = await second.page().evaluate(async () => {
    const page = window as unknown as {
      atStart: object;
      openDatabase: (version: number | undefined, upgrade: () => void) => Promise<IDBDatabase>;
      done: <Result>(request: IDBRequest<Result>) => Promise<Result>;
    };
    const database = await page.openDatabase(undefined, () => {});
    const transaction = database.transaction(["mails", "log"], "readwrite");
    const [mail] = await page.done(transaction.objectStore("mails").index("tags").getAll("b"));
    const nextKey = await page.done(transaction.objectStore("log").put("second"));
    return {
      ...page.atStart,
      version: database.version,
      nextKey,
      date: mail.at.getTime(),
      setInMap: [...mail.map.get(1)].map(String),
      bytes: [...mail.pair[0].bytes],
      isShared: mail.pair[0] === mail.pair[1],
      blob: [await mail.blob.text(), mail.blob.type],
      hasNone: "none" in mail,
    };
  });
  assert.deepEqual(found, {
    token: "t-1",
    cookie: "theme=dark",
    version: 3,
    nextKey: 2,
    date: 5,
    setInMap: ["1"],
    bytes: [2, 3],
    isShared: true,
    blob: ["hi", "text/plain"],
    hasNone: true,
  });
  assert.match((await second.page().locator("#cookie").textContent()) ?? "", /session=secret; theme=dark/);
  const { restartNotice } = await fixture.browsers.readStatus(sessionId);
  assert.equal(
    restartNotice,
    "The browser was restarted: logins were restored. What was typed into forms is lost.",
  );
});

test("site data is stored encrypted while the browser runs; a browser that was succeeded stores nothing", async () => {
  const sessionId = await insertTestSession(fixture.db, { targetUrl: at("/login") });
  const live = await fixture.browsers.ensure(sessionId);
  await live.page().evaluate(() => localStorage.setItem("token", "t-2"));
  (await fixture.browsers.hold(sessionId))();
  const stored = await waitFor(async () => {
    const rows = await rowsOf(sessionId);
    return rows.length === 2 && rows;
  }, "the stored site data");
  const texts = stored.map(({ sealed }) => sealed).join();
  assert.ok(!texts.includes("t-2") && !texts.includes("secret"), "site data is encrypted");
  await fixture.db.update(browserRows).set({ starts: 2 }).where(eq(browserRows.sessionId, sessionId));
  await live.page().evaluate(() => localStorage.setItem("token", "of a browser that was given up"));
  await fixture.browsers.reapIdle();
  assert.deepEqual(await rowsOf(sessionId), stored);
});

test("an origin that a page has left at once is stored, and restored for the next page of it", async () => {
  const sessionId = await insertTestSession(fixture.db, { targetUrl: at("/hop") });
  const first = await fixture.browsers.ensure(sessionId);
  await first.page().waitForURL(other("/app"));
  await first.page().evaluate(() => localStorage.setItem("token", "t-3"));
  const second = await restart(sessionId);
  assert.equal(await second.page().evaluate(() => localStorage.getItem("token")), "t-3");
  await fixture.browsers.navigate(sessionId, at("/back"));
  assert.equal(await second.page().evaluate(() => localStorage.getItem("hop")), "left at once");
});

test("a popup and a frame of another site find their storage at their start", async () => {
  const sessionId = await insertTestSession(fixture.db, { targetUrl: at("/framed") });
  const frameOf = (page: import("playwright").Page) =>
    page.frame({ url: other("/in-frame") }) ?? assert.fail("no frame");
  const first = await fixture.browsers.ensure(sessionId);
  await first.page().waitForLoadState();
  await frameOf(first.page()).evaluate(() => localStorage.setItem("token", "in the frame"));
  await fixture.browsers.navigate(sessionId, other("/app"));
  await first.page().evaluate(() => localStorage.setItem("token", "in the page"));
  await fixture.browsers.navigate(sessionId, at("/framed"));
  await first.page().waitForLoadState();
  const second = await restart(sessionId);
  await second.page().waitForLoadState();
  const atStart = () => (window as unknown as { atStart: { token: string } }).atStart.token;
  assert.equal(await frameOf(second.page()).evaluate(atStart), "in the frame");
  const [popup] = await Promise.all([
    second.context.waitForEvent("page"),
    second.page().evaluate((url) => void setTimeout(() => window.open(url)), other("/popup")),
  ]);
  await popup.waitForLoadState();
  assert.equal(await popup.evaluate(atStart), "in the page");
  assert.equal(second.context.pages().length, 2, "no other page was ever there");
});

test("an origin that stores too much is left out and named, and the others are kept", async () => {
  const sessionId = await insertTestSession(fixture.db, { targetUrl: at("/big") });
  const live = await fixture.browsers.ensure(sessionId);
  await live.page().evaluate(
    async (bytes) => {
      localStorage.setItem("token", "with too much");
      const page = window as unknown as {
        openDatabase: (version: number, upgrade: (db: IDBDatabase) => void) => Promise<IDBDatabase>;
        done: (request: IDBRequest) => Promise<unknown>;
      };
      const database = await page.openDatabase(1, (db) => void db.createObjectStore("big"));
      await page.done(database.transaction("big", "readwrite").objectStore("big").put("x".repeat(bytes), 1));
    },
    ORIGIN_BYTES_MAX + 2 ** 20,
  );
  await fixture.browsers.navigate(sessionId, other("/app"));
  await live.page().evaluate(() => localStorage.setItem("token", "t-5"));
  const second = await restart(sessionId);
  assert.deepEqual(await namesOf(sessionId), ["cookies", other("/")]);
  assert.equal(await second.page().evaluate(() => localStorage.getItem("token")), "t-5");
  assert.match(
    fixture.browsers.takeRestartNote(sessionId) ?? "",
    new RegExp(`logins were restored, except the storage of "${site.origin}"`),
  );
});

test("storage that a page deletes is deleted; other sessions have none of it, and it ends with its session", async () => {
  const sessionId = await insertTestSession(fixture.db, { targetUrl: at("/login") });
  const first = await fixture.browsers.ensure(sessionId);
  await first.page().evaluate(() => localStorage.setItem("token", "t-6"));
  const second = await restart(sessionId);
  const otherSession = await insertTestSession(fixture.db, { targetUrl: at("/app") });
  const apart = await fixture.browsers.ensure(otherSession);
  assert.equal(await apart.page().locator("#cookie").textContent(), "none");
  assert.equal(await apart.page().evaluate(() => localStorage.length), 0);
  await second.page().evaluate(() => localStorage.clear());
  await fixture.browsers.reapIdle();
  assert.deepEqual(await namesOf(sessionId), ["cookies"]);
  await fixture.db.delete(sessions).where(eq(sessions.id, sessionId));
  assert.deepEqual(await rowsOf(sessionId), []);
});
