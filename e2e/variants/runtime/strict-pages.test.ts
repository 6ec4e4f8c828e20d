import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import {
  openRuntimeBrowser,
  readBody,
  readReport,
  revert,
  scriptOf,
  waitForState,
} from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

const CSP = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
const BODY = `<h1>Shop</h1><p id="a">a</p><p id="b">b</p>`;

describe("strict pages, and several variants on one page", () => {
  test("a strict Content Security Policy and Trusted Types change nothing", async () => {
    const url = browser.serve("/strict", { body: BODY, headers: { "content-security-policy": CSP } });
    const changes = [
      { op: "setHtml" as const, selector: "#a", html: `<b style="color: rgb(9, 8, 7)">A</b>` },
      { op: "setStyle" as const, selector: "#b", style: { color: "rgb(7, 7, 7)" } },
      { op: "remove" as const, selector: "h1" },
      { op: "setAttribute" as const, selector: "#b", name: "style", value: "color: rgb(5, 5, 5);" },
    ];
    const preview = scriptOf(url, changes, {
      css: "#a { margin: 3px }",
      js: "document.body.dataset.ran = 'yes'",
    });
    // The same changes are tested in a preview and in a published script from the page's own origin.
    browser.serve("/published.js", { headers: { "content-type": "text/javascript" }, body: preview });
    const published = browser.serve("/strict-published", {
      body: `<script src="/published.js"></script>${BODY}`,
      headers: { "content-security-policy": CSP },
    });
    browser.serve("/published.js", {
      headers: { "content-type": "text/javascript" },
      body: scriptOf(published, changes, {
        css: "#a { margin: 3px }",
        js: "document.body.dataset.ran = 'yes'",
      }),
    });
    for (const [address, scripts] of [
      [url, [preview]],
      [published, []],
    ] as const) {
      const { page, problems, close } = await browser.open(address, [...scripts]);
      await waitForState(page, "applied", "c4");
      const shown = await page.evaluate(() => {
        const read = (selector: string) => getComputedStyle(document.querySelector(selector) as Element);
        return [
          read("#a b").color,
          read("#a").margin,
          read("#b").color,
          read("h1").display,
          document.body.dataset.ran,
        ];
      });
      assert.deepEqual(shown, ["rgb(9, 8, 7)", "3px", "rgb(5, 5, 5)", "none", "yes"]);
      await revert(page);
      assert.ok((await readBody(page)).endsWith(BODY), await readBody(page));
      assert.deepEqual(problems, []);
      await close();
    }
  });

  test("two variants change the same elements, and each reverts only its own changes", async () => {
    const url = browser.serve("/two", BODY);
    const one = scriptOf(url, [
      { op: "addClass", selector: "#a", className: "one" },
      { op: "insert", selector: "#a", position: "after", html: "<i>1</i>" },
      { op: "setText", selector: "h1", text: "One" },
    ]);
    const two = scriptOf(
      url,
      [
        { op: "addClass", selector: "#a", className: "two" },
        { op: "insert", selector: "#a", position: "after", html: "<i>2</i>" },
        { op: "setText", selector: "h1", text: "Two" },
      ],
      { key: "b" },
    );
    // Started on the loaded page, so that their order does not depend on when its elements are parsed.
    const { page, close } = await browser.open(url);
    await page.evaluate(one);
    await waitForState(page, "applied", "c3", "main");
    await page.evaluate(two);
    await waitForState(page, "applied", "c3", "b");
    assert.equal(
      await readBody(page),
      `<h1>Two</h1><p class="one two" id="a">a</p><i>1</i><i>2</i><p id="b">b</p>`,
    );
    await page.evaluate(() => {
      (document.querySelector("#a") as Element).className = "page";
      (document.querySelector("h1") as Element).textContent = "Page";
    });
    await waitFor(
      async () => (await readBody(page)).includes(`<h1>Two</h1><p class="page one two"`),
      "both again",
    );
    await revert(page, "main");
    assert.equal(await readBody(page), `<h1>Two</h1><p class="page two" id="a">a</p><i>2</i><p id="b">b</p>`);
    await revert(page, "b");
    assert.equal(await readBody(page), `<h1>Page</h1><p class="page" id="a">a</p><p id="b">b</p>`);
    for (const key of ["main", "b"]) assert.equal((await readReport(page, key)).pages, 0);
    await close();
  });

  test("a script that is evaluated again updates the variant of its key, or restarts it if it was reverted", async () => {
    const url = browser.serve("/update", BODY);
    const js = "window.runs = (window.runs ?? 0) + 1";
    const text = (value: string) => scriptOf(url, [{ op: "setText", selector: "h1", text: value }], { js });
    const { page, close } = await browser.open(url, [text("1")]);
    await waitForState(page, "applied");
    await page.evaluate(text("2"));
    assert.match(await readBody(page), /^<h1>2/);
    await revert(page);
    assert.equal(await readBody(page), BODY);
    await page.evaluate(text("3"));
    assert.match(await readBody(page), /^<h1>3/);
    assert.equal(await page.evaluate(() => Reflect.get(window, "runs")), 1);
    await close();
  });

  test("an error of a change or of the script does not stop other changes", async () => {
    const url = browser.serve("/errors", BODY);
    const script = scriptOf(
      url,
      [
        { op: "setText", selector: "p:nothing", text: "x" },
        { op: "move", selector: "body", position: "end", target: "#a" },
        { op: "setStyle", selector: "#a", style: { color: "no color" } },
        { op: "setText", selector: "#b", text: "B" },
      ],
      { js: "throw new TypeError('of the script')" },
    );
    const { page, problems, close } = await browser.open(url, [script]);
    await waitForState(page, "applied", "c4");
    const { changes, scriptError } = await readReport(page);
    assert.deepEqual(
      changes.map(({ state, error }) => [state, error]),
      [
        ["error", "Failed to execute 'querySelectorAll' on 'Document': 'p:nothing' is not a valid selector."],
        ["error", "An element cannot be moved into itself."],
        ["error", 'The browser rejects the style "color: no color".'],
        ["applied", null],
      ],
    );
    assert.equal(scriptError, "TypeError: of the script");
    assert.deepEqual(problems, []);
    await revert(page);
    assert.equal(await readBody(page), BODY);
    await close();
  });

  test("only the top frame applies a variant, whatever its key", async () => {
    browser.serve("/frame", `<h1>Frame</h1>`);
    const url = browser.serve("/top", `<h1>Top</h1><iframe src="/frame"></iframe>`);
    const script = scriptOf(`${browser.origin}/`, [{ op: "setText", selector: "h1", text: "New" }], {
      match: "prefix",
      key: "constructor",
    });
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied", "c1", "constructor");
    const frame = page.frames()[1];
    assert.equal(await frame?.evaluate(() => document.body.textContent), "Frame");
    assert.equal(await frame?.evaluate(() => Reflect.get(window, "__agentSessionVariants")), undefined);
    await close();
  });

  test("the runtime survives page code that hooks into the DOM and throws, and the page settles", async () => {
    const url = browser.serve(
      "/hostile",
      `<x-echo>1</x-echo><ul><li>1</li></ul><script>
      customElements.define("x-echo", class extends HTMLElement {
        static observedAttributes = ["class", "title"];
        attributeChangedCallback() { if (this.isConnected) this.textContent = String(Math.random()); }
        connectedCallback() { this.setAttribute("title", "mine"); throw new Error("of the page"); }
      });
      new MutationObserver(() => { const ul = document.querySelector("ul"); ul.replaceWith(ul.cloneNode(true)); })
        .observe(document.querySelector("ul"), { childList: true, subtree: true, attributes: true, characterData: true });
      </script>`,
    );
    const script = scriptOf(url, [
      { op: "setAttribute", selector: "x-echo", name: "title", value: "ours" },
      { op: "setText", selector: "x-echo", text: "ours" },
      { op: "insert", selector: "li", position: "after", html: "<li><x-echo></x-echo></li>" },
      { op: "insert", selector: "x-echo", position: "after", html: "<x-echo></x-echo>" },
    ]);
    const { page, problems, close } = await browser.open(url, [script]);
    await waitForState(page, "applied", "c2");
    const settled = await waitFor(async () => {
      const before = await readBody(page);
      await page.evaluate(() => new Promise(requestAnimationFrame));
      return (await readBody(page)) === before;
    }, "the page to settle");
    assert.ok(settled);
    for (const problem of problems) assert.match(problem, /of the page/);
    await close();
  });
});
