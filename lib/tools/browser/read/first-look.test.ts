import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, afterEach, before, test } from "node:test";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "#lib/browser/testing.ts";
import { createTestHost } from "../test-fixture.ts";
import { createFirstLook } from "./first-look.ts";

const shop = (begin: string) => `<!doctype html><title>Shop</title><main>Loading</main><script>
async function fill() {
  const heading = await (await fetch("/heading")).text();
  const list = await (await fetch("/list")).text();
  document.querySelector("main").innerHTML = "<h1>" + heading + "</h1><p>" + list + "</p>";
}
${begin}
</script>`;
const PAGES: Record<string, string> = {
  "/at-once": shop("fill();"),
  "/after-load": shop('addEventListener("load", () => setTimeout(fill));'),
  "/other": "<!doctype html><title>Other</title><h1>Other page</h1>",
};

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let host: ReturnType<typeof createTestHost>;
let look: (sessionId: string, signal?: AbortSignal) => Promise<string>;
/** The requests for data that the site has not answered yet, by path. */
const held = new Map<string, ServerResponse>();

before(async () => {
  site = await startTestSite((request, response) => {
    const { url = "/" } = request;
    const page = PAGES[url];
    if (page === undefined) held.set(url, response);
    else response.writeHead(200, { "content-type": "text/html" }).end(page);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`], { maxLive: 1 });
  host = createTestHost({ browser: harness.browsers });
  // Browsers start slowly on a busy machine.
  const firstLook = createFirstLook(host, 120_000);
  look = (sessionId, signal = new AbortController().signal) =>
    firstLook({ sessionId, browserSessionId: sessionId }, signal);
});
afterEach(() => held.clear());
after(async () => {
  await harness.close();
  await site.close();
});

const open = (path: string) => insertTestSession(harness.db, { targetUrl: site.origin + path });

/** A page counts as at rest much sooner. */
const ANSWER_MS = 400;

/** Waits for the page's request for `path`, and answers it as a slow server does. */
async function answer(path: string, text: string): Promise<void> {
  const response = await waitFor(() => held.get(path), `the request for ${path}`);
  setTimeout(() => response.end(text), ANSWER_MS);
}

for (const path of ["/at-once", "/after-load"])
  test(`the first look waits for what the page fetches in turn: ${path}`, async () => {
    const looking = look(await open(path));
    await answer("/heading", "Shoes");
    await answer("/list", "Boots, sandals");
    assert.match(await looking, /heading 1 "Shoes"[\s\S]*Boots, sandals/);
  });

test("a session that finds all browsers idle gets the place of one, and sees its page at once", async () => {
  await harness.browsers.ensure(await open("/other"));
  assert.match(await look(await open("/other")), /heading 1 "Other page"/);
});

test("it waits in the queue while all browsers are in use", async () => {
  const [busy, waiting] = [await open("/other"), await open("/other")];
  const release = await harness.browsers.hold(busy);
  const looking = look(waiting);
  await waitFor(() => harness.browsers.listLive().includes(waiting), "the session to wait");
  release();
  assert.match(await looking, /heading 1 "Other page"/);
});

test("later snapshots are not compared with one that came too late for the model", async () => {
  const late = await open("/at-once");
  const stop = new AbortController();
  const looking = look(late, stop.signal);
  await waitFor(() => held.get("/heading"), "the request for /heading");
  stop.abort();
  assert.match(await looking, /^The page could not be read: The call was stopped\.$/);
  await answer("/heading", "Shoes");
  await answer("/list", "Boots");
  // The only browser can be taken when the look has ended.
  assert.match(await look(await open("/other")), /heading 1 "Other page"/);
  assert.equal(host.snapshots.latest(late), undefined);
});

test("it is repeated at the host that takes the waiting session over", async () => {
  const [busy, waiting] = [await open("/other"), await open("/other")];
  const release = await harness.browsers.hold(busy);
  const rejected = assert.rejects(look(waiting), { name: "ElsewhereError" });
  await waitFor(
    async () => (await harness.browsers.open(waiting)).state === "waiting",
    "the session to wait",
  );
  harness.browsers.handOver(waiting);
  await rejected;
  release();
});
