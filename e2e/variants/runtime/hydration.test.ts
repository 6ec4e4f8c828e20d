import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  openRuntimeBrowser,
  readBody,
  readReport,
  revert,
  scriptOf,
  waitForState,
} from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

/** Replaces the clock of the runtime by `nowMs`, which a test sets. */
const CLOCK = "window.nowMs = 0; performance.now = () => nowMs;";

/** A page that a server has rendered. Its script hydrates it as the framework does, and fails if nodes were added. */
const PAGES = {
  "Angular, which removes its mark": {
    body: `<app-root ngh="0"><h1>Shop</h1><p>one</p></app-root>`,
    client: `const root = document.querySelector("app-root"); if (root.children.length !== 2) throw new Error("NG0500"); root.removeAttribute("ngh"); root.__ngContext__ = 1;`,
  },
  "Angular, which hydrates blocks in a task after the mark is gone": {
    body: `<app-root ngh="0"><h1>Shop</h1><p>one</p></app-root>`,
    client: `const root = document.querySelector("app-root"); root.removeAttribute("ngh"); requestAnimationFrame(() => { if (root.children.length !== 2) throw new Error("NG0500"); });`,
  },
  "Angular, which hydrates blocks in a task after a long task that removes the mark": {
    body: `<app-root ngh="0"><h1>Shop</h1><p>one</p></app-root>`,
    client: `const root = document.querySelector("app-root"); const end = Date.now() + 300; while (Date.now() < end); root.removeAttribute("ngh"); requestAnimationFrame(() => { if (root.children.length !== 2) throw new Error("NG0500"); });`,
  },
  "Lit, which hydrates a shadow root": {
    body: `<my-shop><template shadowrootmode="open"><!--lit-part 1--><h1>Shop</h1><p>one</p><!--/lit-part--></template></my-shop>`,
    client: `customElements.define("my-shop", class extends HTMLElement {}); const root = document.querySelector("my-shop").shadowRoot; if (root.children.length !== 2) throw new Error("unexpected longer than expected iterable"); root._$litPart$ = 1;`,
  },
  "React in any element, without comments": {
    body: `<div id="site"><h1>Shop</h1><p>one</p></div>`,
    client: `const root = document.getElementById("site"); if (root.children.length !== 2) throw new Error("418"); root.__reactContainer$1 = { return: null, flags: 0 };`,
  },
  "Solid, which keeps its marks": {
    body: `<main data-hk="0"><h1>Shop</h1><p>one</p></main>`,
    client: `const root = document.querySelector("main"); if (root.children.length !== 2) throw new Error("mismatch"); _$HY.completed.add(root);`,
  },
};

/**
 * Pages with marks that stay. A script without a source imports the module that hydrates the page, which the page's load
 * does not wait for.
 */
const IMPORTING_PAGES = {
  Svelte: {
    body: `<div id="root"><!--[--><h1>Shop</h1><p>one</p><!--]--></div>`,
    hydrated: "Element.prototype.__e = 1;",
  },
  Nuxt: {
    body: `<div id="root"><div id="__nuxt"><h1>Shop</h1></div><p>one</p></div>`,
    hydrated: "__nuxt.__vue_app__ = {};",
  },
  Solid: {
    body: `<main id="root" data-hk="0"><h1>Shop</h1><p>one</p></main>`,
    hydrated: "window._$HY = { completed: new WeakSet([root]) };",
  },
};

describe("hydration is observed", () => {
  for (const [name, { body, hydrated }] of Object.entries(IMPORTING_PAGES))
    test(`a move waits for an imported module of ${name} that arrives after the page's load`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const module = { headers: { "content-type": "text/javascript" } };
      browser.serve("/announced.js", { ...module, body: "" });
      browser.serve("/imported.js", {
        ...module,
        body: `const order = [...root.querySelectorAll("h1, p")].map(({ localName }) => localName).join(); if (order !== "h1,p") throw new Error("mismatch"); ${hydrated}`,
        until: promise,
      });
      const url = browser.serve(
        "/importing",
        `<link rel="modulepreload" href="/announced.js">${body}<script>import("/imported.js")</script>`,
      );
      const script = scriptOf(url, [{ op: "move", selector: "h1", position: "end", target: "#root" }]);
      const { page, problems, close } = await browser.open(url, [CLOCK, script]);
      for (const nowMs of [0, 1_000, 2_900]) {
        await page.evaluate((value) => Reflect.set(window, "nowMs", value), nowMs);
        assert.equal((await readReport(page)).changes[0]?.state, "waiting", `after ${nowMs} ms`);
      }
      resolve();
      await waitForState(page, "applied");
      assert.deepEqual(problems, []);
      await close();
    });

  for (const [name, { body, client }] of Object.entries(PAGES))
    test(`an insertion waits for the scripts of ${name}`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      browser.serve("/hydrate.js", {
        headers: { "content-type": "text/javascript" },
        body: client,
        until: promise,
      });
      const url = browser.serve(
        "/hydrated",
        `<script>window._$HY = { completed: new WeakSet() }</script>${body}<script src="/hydrate.js" defer></script>`,
      );
      const script = scriptOf(url, [{ op: "insert", selector: "h1", position: "after", html: "<i>new</i>" }]);
      // With a clock that stands still, the scripts cannot be too late.
      const { page, problems, close } = await browser.open(url, [CLOCK, script], "commit");
      await page.waitForSelector("h1");
      assert.equal((await readReport(page)).changes[0]?.state, "waiting");
      resolve();
      await waitForState(page, "applied");
      const read = () =>
        page.evaluate(() => {
          const root = document.querySelector("my-shop")?.shadowRoot ?? document.body;
          return root.innerHTML;
        });
      assert.match(await read(), /<h1>Shop<\/h1><i>new<\/i><p>one<\/p>/);
      await revert(page);
      assert.doesNotMatch(await read(), /<i>/);
      assert.deepEqual(problems, []);
      await close();
    });

  // The fake clock reports an idle main thread 50 ms after the request.
  for (const [name, mark, idleMs] of [
    ["an island that is never hydrated", `<astro-island ssr client="visible"><p>one</p></astro-island>`, 70],
    ["a component of Angular that never starts", `<app-root ngh="0"><p>one</p></app-root>`, 70],
    ["a key of Solid without Solid", `<main data-hk="0"><p>one</p></main>`, 0],
  ] as const)
    test(`a loaded page that never says it is ready shows the original for 500 ms at most: ${name}`, async () => {
      const url = browser.serve("/silent", `<h1>Shop</h1>${mark}`);
      const { page, problems, close } = await browser.open("about:blank");
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1_000);
      const changes = ["h1", "p"].map((selector) => ({ op: "setText" as const, selector, text: "new" }));
      await page.addInitScript({ content: scriptOf(url, changes) });
      await page.goto(url);
      const read = async () => (await readReport(page)).changes.map(({ state }) => state);
      assert.deepEqual(await read(), ["applied", "waiting"]);
      await page.clock.runFor(idleMs + 550);
      assert.deepEqual(await read(), ["applied", "applied"]);
      assert.deepEqual(problems, []);
      await close();
    });

  /** Opens a page with a paused clock when its first part is there. */
  async function openPaused(url: string) {
    const opened = await browser.open("about:blank");
    const { page } = opened;
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(1_000);
    const insert = { op: "insert", selector: "h1", position: "after", html: "<i>new</i>" } as const;
    await page.addInitScript({ content: scriptOf(url, [insert]) });
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForSelector("h1");
    return { ...opened, readState: async () => (await readReport(page)).changes[0]?.state };
  }

  for (const [name, root] of [
    ["Angular", `<app-root ngh="0">`],
    ["Next", `<div id="__next">`],
    ["Solid", `<main data-hk="0">`],
  ] as const)
    test(`the 500 ms do not begin before the parser has seen the scripts: ${name}`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const body = `${root}<h1>Shop</h1><p>one</p>`;
      const end = root.replace(/<(\S+).*/, "</$1>");
      const client = `${end}<script>if (document.body.firstElementChild.children.length !== 2) throw new Error("mismatch");</script>`;
      const url = browser.serve("/streamed", { body, rest: { until: promise, body: client } });
      const { page, problems, close, readState } = await openPaused(url);
      await page.clock.runFor(600);
      assert.equal(await readState(), "waiting");
      resolve();
      await page.clock.resume();
      await waitForState(page, "applied");
      assert.deepEqual(problems, []);
      await close();
    });

  for (const [name, root] of [
    ["Angular", `<app-root ngh="0">`],
    ["Astro", `<astro-island ssr client="idle">`],
  ] as const)
    test(`the 500 ms do not begin before the page is loaded, for a mark of ${name}`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      browser.serve("/late-image.png", { body: "", until: promise });
      const url = browser.serve(
        "/loading",
        `${root}<h1>Shop</h1><p>one</p><img alt="" src="/late-image.png">`,
      );
      const { page, problems, close, readState } = await openPaused(url);
      await page.waitForFunction(() => document.readyState === "interactive");
      await page.clock.runFor(600);
      assert.equal(await readState(), "waiting");
      resolve();
      await page.waitForLoadState();
      await page.clock.resume();
      await waitForState(page, "applied");
      assert.deepEqual(problems, []);
      await close();
    });

  test("`when` decides when the changes of a page are applied", async () => {
    const url = browser.serve("/when", `<div id="__next"><h1>Shop</h1></div><img src="/held-image.png">`);
    const { promise, resolve } = Promise.withResolvers<void>();
    browser.serve("/held-image.png", { body: "", until: promise });
    const variant = (when: string) =>
      scriptOf(url, [{ op: "addClass", selector: "h1", className: "on" }], {
        when,
        key: when.replace(".", ""),
      });
    const keys = ["now", "load", "idle", "ready"];
    const { page, problems, close } = await browser.open(
      url,
      ["now", "load", "idle", ".ready"].map(variant),
      "commit",
    );
    const read = async () =>
      Promise.all(keys.map(async (key) => (await readReport(page, key)).changes[0]?.state));
    await waitForState(page, "applied", "c1", "now");
    assert.deepEqual(await read(), ["applied", "waiting", "waiting", "waiting"]);
    resolve();
    await waitForState(page, "applied", "c1", "load");
    await waitForState(page, "applied", "c1", "idle");
    assert.deepEqual(await read(), ["applied", "applied", "applied", "waiting"]);
    await page.evaluate(() => document.body.classList.add("ready"));
    await waitForState(page, "applied", "c1", "ready");
    assert.deepEqual(
      problems.filter((problem) => !problem.includes("image")),
      [],
    );
    await close();
  });
});

describe("several variants, and scripts that clean up", () => {
  for (const order of [
    ["main", "b"],
    ["b", "main"],
  ])
    test(`two variants that move one element agree when ${order[0]} is reverted first`, async () => {
      const body = `<section></section><aside></aside><ul><li>a</li><li id="x">x</li><li>c</li></ul>`;
      const url = browser.serve("/two-moves", body);
      const move = (target: string, key: string) =>
        scriptOf(url, [{ op: "move", selector: "#x", position: "end", target }], { key });
      const { page, problems, close } = await browser.open(url, [
        move("section", "main"),
        move("aside", "b"),
      ]);
      await waitForState(page, "applied", "c1", "b");
      for (const key of order) {
        await revert(page, key);
        assert.equal(await page.evaluate(() => document.querySelectorAll("#x").length), 1);
        if (key === "main" && order[0] === key)
          assert.equal(await page.evaluate(() => document.querySelector("aside")?.textContent), "x");
      }
      assert.equal(await readBody(page), body);
      assert.deepEqual(problems, []);
      await close();
    });

  test("a script that returns a function is cleaned up, and runs again when its page returns", async () => {
    const url = browser.serve("/clean-up", "<h1>Shop</h1>");
    const js = `document.body.dataset.on = "yes"; return () => { delete document.body.dataset.on; };`;
    const { page, problems, close } = await browser.open(url, [scriptOf(url, [], { js })]);
    const read = () => page.evaluate(() => document.body.dataset.on);
    assert.equal(await read(), "yes");
    await page.evaluate(() => history.pushState(null, "", "/elsewhere"));
    assert.equal(await read(), undefined);
    await page.evaluate((address) => history.pushState(null, "", address), url);
    assert.equal(await read(), "yes");
    await revert(page);
    assert.equal(await read(), undefined);
    assert.deepEqual(problems, []);
    await close();
  });
});
