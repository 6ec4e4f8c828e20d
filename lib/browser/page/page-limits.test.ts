import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { BrowserContext, CDPSession, Page } from "playwright";
import { createListenerGuard } from "../process/listener-guard.ts";
import { guardDocuments } from "./document-guard.ts";
import { type PageDownload, watchDownloads } from "./page-downloads.ts";

/** What the listeners keep of events that a page causes in a loop. The events are emitted by the tests. */
const guard = createListenerGuard((error) => {
  throw error;
});

/** A DevTools session that accepts the listed commands. The others fail, like those for a request that has gone. */
const createSession = (...accepted: string[]) =>
  Object.assign(new EventEmitter(), {
    async send(method: string) {
      if (!accepted.includes(method)) throw new Error(`${method} failed`);
    },
  }) as unknown as CDPSession;

test("the reason of a refused navigation is cut after 500 characters", async () => {
  const cdp = createSession("Fetch.enable", "Fetch.failRequest");
  const refusal = new Promise<string>((resolve) => {
    void guardDocuments(cdp, {
      guard,
      mainFrameId: () => "main",
      refuse: async (url) => `${url} is refused`,
      explain: async () => "",
      capture: () => false,
      onRefused: (_loaderId, reason) => resolve(reason),
    });
  });
  const request = { url: `https://a.example/${"a".repeat(5_000)}`, method: "GET" };
  Object(cdp).emit("Fetch.requestPaused", { requestId: "1", frameId: "main", request });
  const reason = await refusal;
  assert.equal(reason.length, 500);
  assert.match(reason, /^https:\/\/a\.example\/a+…$/);
});

test("at most 20 failed downloads wait to be reported; reported ones make room", async () => {
  const context = Object.assign(new EventEmitter(), { addInitScript: async () => {} });
  const waiting: { download: PageDownload; done: () => void }[] = [];
  const downloads = await watchDownloads(
    context as unknown as BrowserContext,
    guard,
    async () => undefined,
    (download) => new Promise((done) => waiting.push({ download, done })),
  );
  const offer = async (count: number) => {
    for (let index = 0; index < count; index += 1)
      downloads.capture(createSession("Fetch.failRequest"), {
        requestId: String(index),
        request: { url: `https://a.example/${index}.csv`, method: "GET" },
        responseStatusCode: 200,
        responseHeaders: [{ name: "content-disposition", value: "attachment" }],
      });
    await new Promise((resolve) => setImmediate(resolve));
  };
  // The first three are in progress, and the others fail.
  await offer(3 + 50);
  assert.equal(waiting.length, 20);
  assert.equal(waiting[0]?.download.failure, "3 other downloads were in progress");
  for (const { done } of waiting.splice(0)) done();
  await offer(50);
  assert.equal(waiting.length, 20);
});

test("of the navigation requests, the latest 20 are remembered for downloads", async () => {
  const context = Object.assign(new EventEmitter(), { addInitScript: async () => {} });
  const stored: string[] = [];
  const downloads = await watchDownloads(
    context as unknown as BrowserContext,
    guard,
    async () => undefined,
    async ({ url }) => void stored.push(url),
  );
  const page = new EventEmitter();
  context.emit("page", page);
  const urls = Array.from({ length: 50 }, (_, index) => `data:text/csv,${index}`);
  /** The requests whose tab is looked up when the download has been stored. */
  const used: string[] = [];
  const tab = { url: () => "", close: async () => {} } as Page;
  for (const url of urls)
    context.emit("request", {
      isNavigationRequest: () => true,
      serviceWorker: () => null,
      url: () => url,
      frame() {
        used.push(url);
        return { page: () => tab };
      },
    });
  for (const url of urls) {
    page.emit("download", { cancel: async () => {}, url: () => url, suggestedFilename: () => "a.csv" });
    while (!stored.includes(url) || downloads.pending() > 0)
      await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(used, urls.slice(-20));
});

test("all browsers together hold 200 MiB of downloads; others fail until these are stored", async () => {
  const chunk = { data: Buffer.alloc(2 ** 20).toString("base64"), base64Encoded: true };
  /** Offers a download of 50 MiB in a browser of its own. */
  const offer = async (): Promise<{ download: PageDownload; store: () => void }> => {
    const context = Object.assign(new EventEmitter(), { addInitScript: async () => {} });
    const page = new EventEmitter();
    const url = "https://a.example/large.csv";
    const read = Promise.withResolvers<{ download: PageDownload; store: () => void }>();
    const downloads = await watchDownloads(
      context as unknown as BrowserContext,
      guard,
      async () => undefined,
      (download) => new Promise((store) => read.resolve({ download, store })),
    );
    context.emit("page", page);
    let left = 50;
    const cdp = {
      async send(method: string) {
        if (method === "Fetch.takeResponseBodyAsStream") return { stream: "1" };
        if (method === "IO.read") return { ...chunk, eof: --left === 0 };
        if (method === "Fetch.fulfillRequest")
          page.emit("download", {
            cancel: async () => {},
            url: () => url,
            suggestedFilename: () => "large.csv",
          });
      },
    };
    downloads.capture(cdp as unknown as CDPSession, {
      requestId: "1",
      request: { url, method: "GET" },
      responseStatusCode: 200,
      responseHeaders: [{ name: "content-disposition", value: "attachment" }],
    });
    return read.promise;
  };
  const held = [await offer(), await offer(), await offer(), await offer()];
  assert.deepEqual(
    held.map(({ download }) => download.bytes?.length),
    Array(4).fill(50 * 2 ** 20),
  );
  const { download, store } = await offer();
  assert.equal(download.failure, "the service was storing other large downloads; try it again");
  store();
  held.shift()?.store();
  await new Promise((resolve) => setImmediate(resolve));
  const next = await offer();
  assert.equal(next.download.bytes?.length, 50 * 2 ** 20);
  for (const each of [next, ...held]) each.store();
});
