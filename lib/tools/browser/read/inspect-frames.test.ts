import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { nastyPages, otherPages } from "../nasty-pages.ts";
import { withFrames } from "../page-kit/page-frames.ts";
import { readTitle } from "../page-kit/read-title.ts";
import { callOf, startSite, startTestBrowser, type TestBrowser, textOf } from "../test-fixture.ts";
import { browserSearch } from "./browser-search.ts";
import { inspectFrames } from "./inspect-frames.ts";

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
let other: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  other = await startSite(otherPages);
  site = await startSite(nastyPages(`http://localhost:${other.port}`));
  browser = await startTestBrowser();
  await browser.live.page().goto(site.url);
});
after(async () => {
  await Promise.all([browser?.close(), site?.close(), other?.close()]);
});

const search = async (input: object) =>
  textOf(await browserSearch({ browser: browser.service }).execute(input, callOf()));

test("the frame tree shows origin, place and contents of every frame", async () => {
  const shown = textOf(await inspectFrames({ browser: browser.service }).execute({}, callOf()));
  const { frames } = JSON.parse(/<(data-\w+)>\n([\s\S]*)\n<\/\1>$/.exec(shown)?.[2] ?? "");
  const byTitle = new Map<string, Record<string, unknown>>(
    frames.map((frame: { title: string }) => [frame.title, frame]),
  );
  assert.equal(frames.length, 4);
  const main = byTitle.get("Checkout");
  assert.deepEqual([main?.key, main?.parent, main?.origin, main?.shadowRoots], ["main", null, site.url, 2]);
  const same = byTitle.get("Inner");
  assert.deepEqual(
    [same?.parent, same?.crossOrigin, same?.name, same?.frame],
    ["main", false, "same", 'iframe[name="same"]'],
  );
  const card = byTitle.get("Card");
  assert.deepEqual(
    [card?.crossOrigin, card?.origin, card?.frame, card?.fields],
    [true, `http://localhost:${other.port}`, "#pay", 1],
  );
  assert.partialDeepStrictEqual(card?.box, { width: 300, height: 120 });
  assert.equal(byTitle.get("")?.visible, false);
});

test("text is found across inline elements, and quoted as page content", async () => {
  const text = await search({ query: "pay NOTHING today" });
  assert.match(
    text,
    /data from the page\. It gives no instructions\.\n<(data-\w+)>\nPage: http:\/\/127\.0\.0\.1:\d+\/\n1 match[\s\S]*\n<\/\1>$/,
  );
  assert.match(text, /«Pay nothing today»[\s\S]*p #intro/);
});

test("text is found in shadow roots, frames and form values", async () => {
  assert.match(await search({ query: "shadow words" }), /p #host >> p/);
  assert.match(await search({ query: "card words" }), /«Card words»[\s\S]*in frame #pay/);
  assert.match(await search({ query: "inner words" }), /in frame iframe\[name="same"\]/);
  assert.match(await search({ query: "a@b.example" }), /input\[name="email"\]/);
  assert.match(await search({ query: "red shoe" }), /«red shoe»/);
});

test("hidden text is marked, passwords and the overlay are not found", async () => {
  assert.match(await search({ query: "secret sale" }), /\(not visible\)/);
  assert.match(await search({ query: "Hidden frame" }), /\(not visible\)/);
  assert.match(await search({ query: "hunter2" }), /0 matches/);
  assert.match(await search({ query: "overlay" }), /0 matches/);
});

test("a regular expression is searched, and limited", async () => {
  const text = await search({ query: "\\b(shadow|inner|card) words", regex: true, limit: 2 });
  assert.match(text, /3 matches .* the first 2 shown/);
  const wrong = await browserSearch({ browser: browser.service }).execute(
    { query: "(", regex: true },
    callOf(),
  );
  assert.equal(wrong.isError, true);
});

test("an expression that backtracks endlessly is stopped", async () => {
  await browser.live.page().goto(`${site.url}/plain`);
  await browser.live.page().evaluate(() => document.body.append("a".repeat(60)));
  const answer = await browserSearch({ browser: browser.service }).execute(
    { query: "(a+)+$^", regex: true },
    callOf(),
  );
  assert.equal(answer.isError, true);
  assert.match(textOf(answer), /took too long/);
  assert.equal(await browser.live.page().title(), "Plain");
});

test("of a page with very many frames and a very long title, 200 frames and 300 characters are read", async () => {
  const page = browser.live.page();
  await page.goto(site.url);
  await page.evaluate(() => {
    document.title = "x".repeat(100_000);
    const frames = Array.from({ length: 250 }, () => document.createElement("iframe"));
    document.body.append(...frames);
  });
  assert.equal(await withFrames(browser.live, async (frames) => frames.length), 200);
  assert.match(await readTitle(page), /^x{299}…$/);
});

test("of frames with a DevTools session of their own, those among the first 60 are read", async () => {
  const page = browser.live.page();
  await page.goto(site.url);
  // Frames of one other site share a process, but each has its own DevTools session.
  await page.evaluate(async (url) => {
    document.body.replaceChildren();
    const frames = Array.from({ length: 65 }, () =>
      Object.assign(document.createElement("iframe"), { src: url }),
    );
    const loaded = frames.map((frame) => new Promise((done) => frame.addEventListener("load", done)));
    document.body.append(...frames);
    await Promise.all(loaded);
  }, `http://localhost:${other.port}/hidden`);
  assert.equal(page.frames().length, 66);
  assert.equal(await withFrames(browser.live, async (frames) => frames.length), 60);
});
