import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LiveBrowser } from "../browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";
import { copyStorage } from "./copy-storage.ts";
import type { FreshContext } from "./open-fresh-context.ts";

const PAGE = '<meta name="viewport" content="width=device-width"><title>Fresh</title><h1>Fresh</h1>';

type Site = Awaited<ReturnType<typeof startTestSite>>;

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true };

let site: Site;
let forbidden: Site;
let harness: TestBrowsers;
let live: LiveBrowser;
let contexts: number;
/** URLs of the requests that reached `forbidden`, a server whose address the guard refuses. */
const reached: string[] = [];
const cookies: (string | undefined)[] = [];

before(async () => {
  forbidden = await startTestSite((request, response) => {
    reached.push(request.url ?? "");
    response.end("forbidden");
  });
  site = await startTestSite((request, response) => {
    cookies.push(request.headers.cookie);
    if (request.url === "/redirect")
      response.writeHead(302, { location: `${forbidden.origin}/redirected` }).end();
    else response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`]);
  const sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/`);
  live = await harness.browsers.ensure(sessionId);
  contexts = live.browser.contexts().length;
});
after(async () => {
  await harness.close();
  await Promise.all([site.close(), forbidden.close()]);
});

async function withFresh(work: (fresh: FreshContext) => Promise<void>): Promise<void> {
  const fresh = await live.openContext({ ...PHONE, storage: await live.context.storageState() });
  try {
    await work(fresh);
  } finally {
    await fresh.close();
  }
  assert.equal(live.browser.contexts().length, contexts);
}

test("the page has the given storage and viewport", async () => {
  await live.context.addCookies([{ name: "plan", value: "gold", url: site.origin }]);
  await live.page().evaluate(() => localStorage.setItem("cart", "3"));
  await withFresh(async ({ page }) => {
    await page.goto(`${site.origin}/fresh`);
    assert.equal(cookies.at(-1), "plan=gold");
    const seen = await page.evaluate(() => [localStorage.cart, innerWidth, navigator.maxTouchPoints > 0]);
    assert.deepEqual(seen, ["3", 390, true]);
  });
  assert.equal(live.page().viewportSize()?.width, 1280);
});

test("a page is signed in as the session is: also by IndexedDB and session storage, which the page can then change", async () => {
  await harness.browsers.navigate(live.sessionId, `${site.origin}/`);
  await live.page().evaluate(async () => {
    sessionStorage.setItem("token", 'a"</script>');
    sessionStorage.setItem("user", "7");
    await new Promise((resolve, reject) => {
      const opening = indexedDB.open("auth", 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore("tokens").put({ id: 7 }, "user");
      opening.onsuccess = () => resolve(opening.result.close());
      opening.onerror = reject;
    });
  });
  const { storage, left } = await copyStorage(live);
  assert.deepEqual(left, []);
  const fresh = await live.openContext({ ...PHONE, storage });
  try {
    const { page } = fresh;
    await page.goto(`${site.origin}/fresh`);
    const readDatabase = () =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open("auth");
        opening.onerror = reject;
        opening.onsuccess = () => {
          const request = opening.result.transaction("tokens").objectStore("tokens").get("user");
          request.onsuccess = () => resolve(request.result);
          request.onerror = reject;
        };
      });
    assert.deepEqual(await page.evaluate(readDatabase), { id: 7 });
    assert.deepEqual(await page.evaluate(() => ({ ...sessionStorage })), { token: 'a"</script>', user: "7" });
    await page.evaluate(() => sessionStorage.clear());
    await page.goto(`${site.origin}/later`);
    assert.equal(
      await page.evaluate(() => sessionStorage.length),
      0,
      "a page that signs out stays signed out",
    );
  } finally {
    await fresh.close();
  }
});

test("storage that is too large or of no web page is left out, and named", async () => {
  await live.page().evaluate(() => sessionStorage.setItem("big", "x".repeat(2_200_000)));
  const { storage, left } = await copyStorage(live);
  assert.equal(storage.sessionStorage, undefined);
  assert.deepEqual(left, ["The session storage of the session was not copied: it is larger than 2 MiB."]);
  assert.ok(storage.cookies.length > 0);
  await live.page().evaluate(() => sessionStorage.clear());
  const broken = { ...live, cdp: () => Promise.reject(new Error("The page is gone.")) };
  assert.deepEqual((await copyStorage(broken)).left, [
    "The session storage of the session was not copied: The page is gone.",
  ]);
});

test("storage is read for every origin that the session has visited, without a visible page", async () => {
  const shown: string[] = [];
  live.context.on("page", (page) => shown.push(page.url()));
  await live.page().evaluate(() => localStorage.setItem("cart", "4"));
  await harness.browsers.navigate(live.sessionId, `http://localhost:${site.port}/`);
  const { origins } = await live.context.storageState();
  assert.deepEqual(
    origins.map(({ origin, localStorage }) => [origin, localStorage[0]?.value]),
    [[site.origin, "4"]],
  );
  assert.equal(live.page().url(), `http://localhost:${site.port}/`);
  assert.deepEqual(shown, []);
});

test("it reaches no refused address, not even by a redirect, a request or a frame", async () => {
  await withFresh(async ({ page, refuse, readRefusal }) => {
    for (const url of [`${forbidden.origin}/direct`, "file:///etc/passwd", "chrome://version", "nothing"])
      assert.notEqual(await refuse(url), undefined, url);
    assert.equal(await refuse(`${site.origin}/fresh`), undefined);
    await assert.rejects(page.goto(`${forbidden.origin}/direct`));
    assert.match(readRefusal() ?? "", /127\.0\.0\.1/);
    await assert.rejects(page.goto(`${site.origin}/redirect`));
    await page.goto(`${site.origin}/fresh`);
    const framed = page.waitForEvent("request", (request) => request.url().endsWith("/frame"));
    await page.evaluate((origin) => {
      const frame = document.createElement("iframe");
      frame.src = `${origin}/frame`;
      document.body.append(frame);
    }, forbidden.origin);
    await framed;
    await page.evaluate(async (origin) => {
      for (const path of ["/fetch", "/again"])
        await fetch(origin + path, { mode: "no-cors" }).catch(() => {});
    }, forbidden.origin);
  });
  assert.deepEqual(reached, []);
});

test("dialogs are dismissed, permissions denied, popups closed and downloads refused; people see none of it", async () => {
  const shown: string[] = [];
  live.context.on("page", (page) => shown.push(page.url()));
  await withFresh(async ({ page }) => {
    await page.goto(`${site.origin}/fresh`);
    const answers = await page.evaluate(async () => {
      const link = document.createElement("a");
      link.download = "file.bin";
      link.href = "data:application/octet-stream,bytes";
      link.click();
      open("/popup");
      const { state } = await navigator.permissions.query({ name: "geolocation" });
      return [confirm("Sure?"), prompt("Name?"), state];
    });
    assert.deepEqual(answers, [false, null, "denied"]);
    await waitFor(() => page.context().pages().length === 1, "the popup to be closed");
  });
  assert.deepEqual(shown, []);
  assert.deepEqual(harness.downloads, []);
});

test("partitioned cookies are copied; caches and private files are named", async () => {
  const partitioned = {
    name: "frame",
    value: "1",
    domain: "127.0.0.1",
    path: "/",
    secure: true,
    sameSite: "None" as const,
    partitionKey: "http://localhost",
  };
  await live.context.addCookies([partitioned]);
  await live.page().evaluate(async () => {
    const cache = await caches.open("c");
    await cache.put("/cached", new Response("x".repeat(10_000)));
    const folder = await navigator.storage.getDirectory();
    const file = await (await folder.getFileHandle("f", { create: true })).createWritable();
    await file.write("x".repeat(10_000));
    await file.close();
  });
  try {
    const { storage, left } = await copyStorage(live);
    assert.equal(left.length, 1);
    assert.match(
      left[0] ?? "",
      /^The (caches and private files|private files and caches) of .* were not copied\.$/,
    );
    const fresh = await live.openContext({ ...PHONE, storage });
    const copied = (await fresh.page.context().cookies()).find(({ name }) => name === "frame");
    await fresh.close();
    assert.deepEqual([copied?.value, copied?.partitionKey], ["1", partitioned.partitionKey]);
  } finally {
    await live.page().evaluate(async () => {
      await caches.delete("c");
      await (await navigator.storage.getDirectory()).removeEntry("f");
    });
    await live.context.clearCookies({ name: "frame" });
  }
});
