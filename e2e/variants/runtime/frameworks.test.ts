import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { playShop, serveShop } from "./frameworks/play-shop.ts";
import { react } from "./frameworks/react-shop.ts";
import { buildReactStream } from "./frameworks/react-stream.ts";
import { SHOP_CHANGES } from "./frameworks/shop-changes.ts";
import { svelte } from "./frameworks/svelte-shop.ts";
import { buildAsyncVuePage, vue } from "./frameworks/vue-shop.ts";
import { openRuntimeBrowser, readReport, revert, scriptOf, waitForState } from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

/** The ids of changes that can be applied together. `npm run variants` tests each change separately, in all builds. */
const COMBINABLE = [
  "text",
  "text-of-list",
  "html",
  "attribute",
  "class",
  "no-class",
  "style",
  "before",
  "end",
  "after",
  "move",
  "move-away",
  "remove",
];

describe("a server-rendered page", () => {
  for (const framework of [react, vue, svelte])
    test(`${framework.name}: changes wait for hydration, survive every render and leave no trace`, async () => {
      const shop = await serveShop(browser, framework.name, await framework.build("development"));
      await playShop(
        browser,
        shop,
        SHOP_CHANGES.filter(({ id }) => COMBINABLE.includes(id)),
      );
    });

  test("React: streamed content is changed after its boundary is hydrated", async () => {
    const { shell, rest, client } = await buildReactStream("development");
    const { promise, resolve } = Promise.withResolvers<void>();
    browser.serve("/stream-client.js", { headers: { "content-type": "text/javascript" }, body: client });
    const url = browser.serve("/stream", { body: shell, rest: { until: promise, body: rest } });
    const script = scriptOf(url, [
      { op: "setText", selector: "h1", text: "New" },
      { op: "setText", selector: ".slow b", text: "Fast" },
      { op: "insert", selector: ".slow", position: "before", html: "<i>before</i>" },
    ]);
    const { page, problems, close } = await browser.open(url, [script], "commit");
    await waitForState(page, "applied", "c1");
    assert.equal((await readReport(page)).changes[1]?.matches, 0);
    resolve();
    await page.waitForSelector(".slow b", { state: "attached" });
    // The HTML of the content has arrived, but the client does not have the data of the content. React cannot hydrate
    // the boundary without the data.
    assert.equal((await readReport(page)).isHydrating, true);
    assert.equal(await page.evaluate(() => document.querySelector(".slow b")?.textContent), "slow 1");
    await page.evaluate(() => Reflect.get(window, "resolveData")());
    await waitForState(page, "applied", "c2");
    await waitForState(page, "applied", "c3");
    await page.click(".slow b");
    assert.equal(
      await page.evaluate(() => document.querySelector(".slow")?.previousSibling?.textContent),
      "before",
    );
    await revert(page);
    assert.equal(
      await page.evaluate(() => document.querySelector(".slow")?.outerHTML),
      `<section class="slow"><b>slow<!-- --> <!-- -->2</b></section>`,
    );
    assert.equal(await page.evaluate(() => document.querySelectorAll("i").length), 0);
    assert.deepEqual(problems, []);
    await close();
  });

  test("Vue: an asynchronous root is changed after it is hydrated", async () => {
    const { html, client } = await buildAsyncVuePage("development");
    browser.serve("/client.js", { headers: { "content-type": "text/javascript" }, body: client });
    const url = browser.serve("/async", html);
    const script = scriptOf(url, [
      { op: "setText", selector: ".slow b", text: "Fast" },
      { op: "insert", selector: ".slow b", position: "before", html: "<i>before</i>" },
    ]);
    const { page, problems, close } = await browser.open(url, [script]);
    const { isHydrating, changes } = await readReport(page);
    assert.deepEqual([isHydrating, changes[0]?.state], [true, "waiting"]);
    await page.evaluate(() => Reflect.get(window, "resolveData")());
    await waitForState(page, "applied", "c1");
    await page.click(".slow b");
    assert.equal(await page.evaluate(() => document.querySelector(".slow")?.textContent), "beforeFast");
    await revert(page);
    assert.equal(await page.evaluate(() => document.querySelector(".slow")?.textContent), "slow 2");
    // Ignores the warning of Vue that Suspense is experimental.
    assert.deepEqual(
      problems.filter((problem) => !problem.includes("experimental")),
      [],
    );
    await close();
  });

  test("a root that is never hydrated delays only its own changes, and for a limited time", async () => {
    const url = browser.serve(
      "/never",
      `<h1>Shop</h1><div id="__next"><p>SSR</p></div><section><b>Hi <!-- -->you</b></section><script src="/missing.js" defer></script>`,
    );
    const script = scriptOf(
      url,
      ["h1", "#__next p", "section"].map((selector) => ({
        op: "addClass" as const,
        selector,
        className: "on",
      })),
    );
    const { page, close } = await browser.open(url, [script]);
    const { changes, isHydrating } = await readReport(page);
    assert.deepEqual(
      changes.map(({ state }) => state),
      ["applied", "waiting", "waiting"],
    );
    assert.equal(isHydrating, true);
    await waitForState(page, "applied", "c2");
    await waitForState(page, "applied", "c3");
    assert.equal((await readReport(page)).isHydrating, false);
    await close();
  });

  test("changes of a page without a framework do not wait, whatever its ids", async () => {
    const url = browser.serve("/plain", `<div id="app"><p>plain</p></div><img src="/held.png">`);
    const { promise, resolve } = Promise.withResolvers<void>();
    browser.serve("/held.png", { body: "", until: promise });
    const script = scriptOf(url, [{ op: "setText", selector: "#app p", text: "new" }]);
    const { page, close } = await browser.open(url, [script], "commit");
    await waitForState(page, "applied");
    assert.notEqual(await page.evaluate(() => document.readyState), "complete");
    resolve();
    await close();
  });
});
