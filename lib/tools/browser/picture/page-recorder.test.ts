import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { NewRecordedPicture } from "#lib/browser/store/recording-store.ts";
import { waitFor } from "#lib/browser/testing.ts";
import { startSite, startTestBrowser, type TestBrowser } from "../test-fixture.ts";
import { createPageRecorder } from "./page-recorder.ts";

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  site = await startSite({
    "/shop": `<!doctype html><title>Shop</title><body style="background:#fff"><h1>Shop</h1>`,
  });
  browser = await startTestBrowser();
});
after(async () => {
  await Promise.all([browser?.close(), site?.close()]);
});

const CALL = { browserSessionId: "session_test", runId: "run_test", callId: "call_test" };

function openRecorder({ isUp = true, isKept = true, isPrivate = false } = {}) {
  const kept: NewRecordedPicture[] = [];
  const failures: unknown[] = [];
  const recorder = createPageRecorder({
    browser: { ensure: browser.service.ensure, listUp: () => (isUp ? [CALL.browserSessionId] : []) },
    async keepRecorded(picture) {
      kept.push(picture);
      return isKept;
    },
    control: { isPrivate: () => isPrivate },
    logger: { debug: (fields) => void failures.push(fields) },
  });
  const note = () => recorder.note(CALL);
  return { kept, failures, note };
}

test("a page is recorded when it looks different from the picture before", async () => {
  const { kept, failures, note } = openRecorder();
  const page = browser.live.page();
  await page.goto(`${site.url}/shop`);
  await note();
  await note();
  await page.evaluate(() => {
    document.body.style.background = "#00f";
    document.title = "Blue";
  });
  await note();
  assert.deepEqual(failures, []);
  assert.deepEqual(
    kept.map(({ sessionId, runId, callId, url, title }) => [sessionId, runId, callId, url, title]),
    ["Shop", "Blue"].map((title) => ["session_test", "run_test", "call_test", `${site.url}/shop`, title]),
  );
  for (const { bytes } of kept) assert.deepEqual([...bytes.slice(0, 2)], [0xff, 0xd8]);
  assert.equal(new Set(kept.map(({ key }) => key)).size, 2);
});

test("no browser is started for a picture, pages that are not http(s) or are handed over have none, and a service that keeps none is asked once", async () => {
  const page = browser.live.page();
  await page.goto(`${site.url}/shop`);
  const down = openRecorder({ isUp: false });
  await down.note();
  assert.deepEqual(down.kept, []);

  const handedOver = openRecorder({ isPrivate: true });
  await handedOver.note();
  assert.deepEqual(handedOver.kept, []);

  const off = openRecorder({ isKept: false });
  await off.note();
  await page.evaluate(() => {
    document.body.style.background = "#f00";
  });
  await off.note();
  assert.equal(off.kept.length, 1);

  await page.goto("about:blank");
  const blank = openRecorder();
  await blank.note();
  assert.deepEqual(blank.kept, []);
});

test("pictures are stored in their order, few of them wait, and a failed one is taken again", async () => {
  const page = browser.live.page();
  await page.goto(`${site.url}/shop`);
  const stored: string[] = [];
  const first = Promise.withResolvers<boolean>();
  let isFirst = true;
  const recorder = createPageRecorder({
    browser: { ensure: browser.service.ensure, listUp: () => [CALL.browserSessionId] },
    async keepRecorded({ title }) {
      if (isFirst) {
        isFirst = false;
        await first.promise;
      }
      stored.push(title);
      return true;
    },
    control: { isPrivate: () => false },
    logger: { debug() {} },
  });
  const paint = async (title: string) => {
    await page.evaluate((text) => {
      document.title = text;
      document.body.textContent = text;
    }, title);
    await recorder.note(CALL);
  };
  for (const title of ["1", "2", "3", "4", "5", "left out"]) await paint(title);
  first.reject(new Error("the database is away"));
  await waitFor(() => stored.length === 4, "the stored pictures");
  await paint("1");
  await waitFor(() => stored.length === 5, "the repeated picture");
  assert.deepEqual(stored, ["2", "3", "4", "5", "1"]);
});
