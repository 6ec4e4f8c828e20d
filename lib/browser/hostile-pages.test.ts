import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { LiveBrowser } from "./browser-service.ts";
import type { ActivityEntry } from "./page/page-activity.ts";
import { EVENTS_PER_SECOND } from "./process/playwright-gate.ts";
import { insertTestSession, openTestBrowsers, startTestSite, type TestBrowsers, waitFor } from "./testing.ts";

// Needs a process of its own: it collects the unhandled errors of its process.

/** Pages that try to fill the memory of the service. All sizes are bounded. */
let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let sessionId: string;
/** Failures of this process that nothing has handled. Without a guard, a listener's error is one of them. */
const unhandled: unknown[] = [];
const noteUnhandled = (error: unknown) => void unhandled.push(error);

before(async () => {
  process.on("uncaughtException", noteUnhandled);
  process.on("unhandledRejection", noteUnhandled);
  site = await startTestSite((request, response) => {
    if (request.url?.startsWith("/never")) return;
    if (request.url?.startsWith("/none")) return void response.writeHead(204).end();
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(`<title>Page ${request.url}</title><p>text</p>`);
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`]);
});
afterEach(() => assert.deepEqual(unhandled, []));
after(async () => {
  process.off("uncaughtException", noteUnhandled);
  process.off("unhandledRejection", noteUnhandled);
  await harness.close();
  await site.close();
});

async function open(): Promise<LiveBrowser> {
  sessionId = await insertTestSession(harness.db);
  await harness.browsers.navigate(sessionId, `${site.origin}/`);
  return harness.browsers.ensure(sessionId);
}

const entriesOf = <Kind extends ActivityEntry["kind"]>(live: LiveBrowser, kind: Kind) =>
  live.activity
    .since(0)
    .filter((entry): entry is Extract<ActivityEntry, { kind: Kind }> => entry.kind === kind);

/** Counts the session's events of one kind. */
async function countEvents(kind: string): Promise<number> {
  const events = await harness.log.read(sessionId, { after: 0, limit: 1_000 });
  return events.filter((event) => event.kind === kind).length;
}

test("an unexpected error in a listener ends that browser with a reason, and the next use starts a new one", async () => {
  const live = await open();
  const other = await insertTestSession(harness.db);
  await harness.browsers.navigate(other, `${site.origin}/other`);
  live.activity.follow(() => {
    throw new TypeError("a mistake of ours");
  });
  await live.page().evaluate(() => void setTimeout(() => Promise.reject(new Error("of the page"))));
  const failed = await waitFor(async () => {
    const record = await harness.browsers.readStatus(sessionId);
    return record.status === "error" && record;
  }, "the status error");
  assert.equal(failed.lastError, "the service could not handle an event of the browser");
  assert.ok(harness.warnings.includes("an event of a browser could not be handled; the browser was ended"));
  assert.equal((await harness.browsers.readStatus(other)).status, "ready");
  const again = await harness.browsers.ensure(sessionId);
  assert.equal(again.page().url(), `${site.origin}/`);
  assert.equal((await harness.browsers.readStatus(sessionId)).lastError, null);
});

test("a listener that rejects ends its browser, too", async () => {
  const failing = await openTestBrowsers([`127.0.0.1:${site.port}`], {
    storeDownload: async () => "downloads/file",
    readPageScript: async () => ({ onDocumentStart: null, inFreshContexts: null, immediate: "" }),
  });
  try {
    const id = await insertTestSession(failing.db);
    await failing.browsers.navigate(id, `${site.origin}/`);
    const live = await failing.browsers.ensure(id);
    // The download is reported by an asynchronous listener.
    live.activity.follow((entry) => {
      if (entry.kind === "download") throw new TypeError("a mistake of ours");
    });
    // The click comes after the answer of this call, because it ends the browser.
    await live.page().evaluate(() => {
      const link = Object.assign(document.createElement("a"), { href: "data:,text", download: "a.txt" });
      setTimeout(() => link.click());
    });
    await waitFor(async () => (await failing.browsers.readStatus(id)).status === "error", "the status error");
  } finally {
    await failing.close();
  }
});

test("texts of a page are shortened as they arrive, by whole characters", async () => {
  const live = await open();
  const lengths: number[] = [];
  live.context.on("console", (message) => void lengths.push(message.text().length));
  await live.page().evaluate(() => {
    for (let count = 0; count < 20; count += 1) {
      console.log("😀".repeat(4_000), "x".repeat(20_000));
      setTimeout(() => Promise.reject(new Error("😀".repeat(4_000))));
    }
  });
  const errors = await waitFor(() => {
    const found = entriesOf(live, "page-error");
    return found.length === 20 && found;
  }, "the errors");
  for (const { message } of errors) {
    assert.ok(message.length <= 1_000 && message.isWellFormed(), String(message.length));
    assert.match(message, /^Error: 😀.*…$/u);
  }
  await waitFor(() => lengths.length === 20, "the console messages");
  assert.ok(Math.max(...lengths) < 10_000, String(lengths));
  // Playwright keeps the errors and messages of each page as they were delivered.
  const kept = [
    ...(await live.page().pageErrors()).map(({ message }) => message),
    ...(await live.page().consoleMessages()).map((message) => message.text()),
  ];
  assert.equal(kept.length, 40);
  assert.ok(kept.every((text) => text.length < 10_000));
});

test("console messages and errors in a loop are dropped beyond a number per second", async () => {
  const live = await open();
  let messages = 0;
  live.context.on("console", () => {
    messages += 1;
  });
  const sent = 30_000;
  const startMs = performance.now();
  await live.page().evaluate((count) => {
    for (let at = 0; at < count; at += 1) console.log("message", at);
  }, sent);
  // The answer of the page comes after its messages.
  assert.equal(await live.page().evaluate(() => 6 * 7), 42);
  await waitFor(() => messages > 0, "the first messages");
  // A slow machine takes several seconds for them, of which each has its own number.
  const seconds = Math.floor((performance.now() - startMs) / 1_000) + 2;
  assert.ok(messages <= seconds * EVENTS_PER_SECOND, `${messages} of ${sent} messages arrived`);
});

test("the body and the address of a request are shortened for Playwright, which keeps the latest 100 of a page", async () => {
  const live = await open();
  const sent = live.page().waitForEvent("request", (request) => request.method() === "POST");
  await live.page().evaluate(async (base) => {
    await fetch(`${base}/post?${"a".repeat(50_000)}`, {
      method: "POST",
      body: "x".repeat(3 * 2 ** 20),
    }).catch(() => {});
  }, site.origin);
  const request = await sent;
  assert.ok((request.postData() ?? "").length < 20_000, String(request.postData()?.length));
  assert.ok(request.url().length < 20_000, String(request.url().length));
});

test("dialogs, addresses and requests of a page in a loop stay within their limits", async () => {
  const live = await open();
  await live.page().evaluate(() => {
    for (let count = 0; count < 300; count += 1) alert("x".repeat(50_000));
    for (let count = 0; count < 1_500; count += 1) void fetch(`/never?${count}`).catch(() => {});
    history.pushState(null, "", `/?${"a".repeat(300_000)}`);
    setTimeout(() => Promise.reject(new Error("last")));
  });
  await waitFor(() => entriesOf(live, "page-error").length > 0, "the last entry");
  const dialogs = entriesOf(live, "dialog");
  assert.ok(dialogs.length <= 200 && dialogs.every(({ dialog }) => dialog.message.length <= 1_000));
  assert.ok(live.activity.pending(live.page(), 0) <= 1_000);
  const record = await waitFor(async () => {
    const found = await harness.browsers.readStatus(sessionId);
    return found.currentUrl?.includes("aaa") && found;
  }, "the new address");
  assert.ok((record.currentUrl ?? "").length <= 8_192, String(record.currentUrl?.length));
  assert.ok((record.lastNavigatedUrl ?? "").length <= 8_192);
  // The address was written after the events of the dialogs. They may be of two minutes.
  const noted = await countEvents("browser.dialog");
  assert.ok(noted > 0 && noted <= 60, `${noted} events`);
});

test("changes of the address in a loop make one event per 200 ms", async () => {
  const live = await open();
  const before = await countEvents("browser.status");
  const beganMs = performance.now();
  await live.page().evaluate(() => {
    for (let count = 1; count <= 150; count += 1) history.pushState(null, "", `/?${count}`);
  });
  await waitFor(
    async () => (await harness.browsers.readStatus(sessionId)).currentUrl?.endsWith("/?150"),
    "the last address",
  );
  const made = (await countEvents("browser.status")) - before;
  const most = 2 + (performance.now() - beganMs) / 200;
  assert.ok(made <= most, `${made} events, at most ${most}`);
});

test("of the refused navigations of a browser, the latest 50 are kept with their reasons", async () => {
  const live = await open();
  const cdp = await live.context.newCDPSession(live.page());
  const loaderIds: string[] = [];
  for (let count = 0; count < 60; count += 1) {
    const { loaderId } = await cdp.send("Page.navigate", { url: `${site.origin}/none?${count}` });
    loaderIds.push(loaderId ?? "");
  }
  const reasons = loaderIds.map(live.readRefusal);
  assert.deepEqual(reasons.slice(0, 10), Array(10).fill(undefined));
  assert.deepEqual(reasons.slice(10), Array(50).fill("the address answered 204, which is no page"));
});

test("an answer of more than 32 MiB is an error, and the page works on", async () => {
  const live = await open();
  const cdp = await live.context.newCDPSession(live.page());
  const expression = '"x".repeat(40 * 2 ** 20)';
  await assert.rejects(
    cdp.send("Runtime.evaluate", { expression, returnByValue: true }),
    /larger than 32 MiB/,
  );
  assert.equal(await live.page().evaluate(() => 6 * 7), 42);
});
