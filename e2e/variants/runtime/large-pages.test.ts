import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import { openRuntimeBrowser, readBody, readReport, revert, scriptOf } from "./runtime-fixture.ts";

const ELEMENTS = 10_000;
const CHANGES = 200;

const browser = openRuntimeBrowser();

/** The body of a page. Each class is on 50 elements. */
const BODY = Array.from(
  { length: ELEMENTS },
  (_, index) => `<p class="c${index % CHANGES}">${index}</p>`,
).join("");
const ALL_CHANGES = Array.from({ length: CHANGES }, (_, index) =>
  index % 2 === 0
    ? { op: "setText" as const, selector: `.c${index}`, text: "new" }
    : { op: "insert" as const, selector: `.c${index}`, position: "after" as const, html: "<i>new</i>" },
);

/** A script that counts searches of the whole page, which are expensive. */
const COUNT_SEARCHES = `window.searches = 0; const search = Document.prototype.querySelectorAll;
Document.prototype.querySelectorAll = function (selector) { if (this === document) window.searches++; return search.call(this, selector); };`;

describe("a page of ten thousand elements with two hundred changes", () => {
  test("all are applied and reverted; unrelated mutations cause no search of the page", async () => {
    const url = browser.serve("/large", BODY);
    const { page, problems, close } = await browser.open(url, [COUNT_SEARCHES, scriptOf(url, ALL_CHANGES)]);
    await waitFor(
      async () => (await readReport(page)).changes.every(({ applied }) => applied === ELEMENTS / CHANGES),
      "all changes",
    );
    const searches = () => page.evaluate(() => Reflect.get(window, "searches") as number);
    const before = await searches();
    await page.evaluate(async () => {
      const box = document.body.appendChild(document.createElement("section"));
      for (let count = 0; count < 100; count++) {
        box.append(
          Object.assign(document.createElement("span"), { className: "x", textContent: String(count) }),
        );
        box.setAttribute("title", String(count));
        box.dataset.count = String(count);
        if (count % 2 === 0) box.firstChild?.remove();
        await null;
      }
      box.remove();
    });
    assert.equal((await readReport(page)).changes.filter(({ reapplied }) => reapplied > 0).length, 0);
    assert.equal(await searches(), before);
    // The runtime reacts to a mutation that adds an element that a change matches.
    await page.evaluate(() =>
      document.body.append(Object.assign(document.createElement("p"), { className: "c0" })),
    );
    await waitFor(async () => (await readReport(page)).changes[0]?.applied === 51, "the new element");
    await page.evaluate(() => document.body.lastChild?.remove());
    await revert(page);
    assert.ok((await readBody(page)) === BODY);
    assert.deepEqual(problems, []);
    await close();
  });
});

/** Stops the clock that the runtime reads, except that each search for a heading takes 150 ms of it. */
const SLOW_SEARCH = `let nowMs = 0; performance.now = () => nowMs;
const find = Document.prototype.querySelectorAll;
Document.prototype.querySelectorAll = function (selector) { if (selector === "h1") nowMs += 150; return find.call(this, selector); };`;
/** Notes what the page has in the first frame with a heading. */
const NOTE_FRAME = `new MutationObserver((_, observer) => {
  if (!document.querySelector("h1")) return;
  observer.disconnect();
  requestAnimationFrame(() => { window.firstFrame = document.querySelector("h1").previousElementSibling?.localName ?? "none"; });
}).observe(document, { subtree: true, childList: true });`;

describe("a page that loads on a busy machine", () => {
  for (const [position, text] of [
    ["before its heading", "<h1>Shop</h1>"],
    ["inside a new element", "<main><h1>Shop</h1></main>"],
  ])
    test(`a banner ${position} is there before the heading is painted, also after a slow round`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const url = browser.serve("/busy", {
        body: "<header>Menu</header>",
        rest: { until: promise, body: `${text}<p>one</p>` },
      });
      const script = scriptOf(url, [
        { op: "insert", selector: "h1", position: "before", html: "<nav>Sale</nav>" },
      ]);
      const { page, problems, close } = await browser.open(url, [SLOW_SEARCH, script, NOTE_FRAME], "commit");
      await page.waitForSelector("header");
      resolve();
      const first = await page.waitForFunction(() => Reflect.get(window, "firstFrame"));
      assert.equal(await first.jsonValue(), "nav");
      assert.deepEqual(problems, []);
      await close();
    });
});
