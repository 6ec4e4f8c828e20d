import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import { openRuntimeBrowser, readReport, revert, scriptOf, waitForState } from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

test("addresses match by their kind; the fragment is ignored", () => {
  const cases: [
    match: "exact" | "path" | "prefix" | "glob",
    url: string,
    address: string,
    isMatch: boolean,
  ][] = [
    ["exact", "https://a.example/x?y=1", "https://a.example/x?y=1#z", true],
    ["exact", "https://a.example/x#q", "https://a.example/x", true],
    ["exact", "https://a.example/x", "https://a.example/x?y=1", false],
    ["exact", "https://A.example", "https://a.example/", true],
    ["path", "https://a.example/x", "https://a.example/x?y=1#z", true],
    ["path", "https://a.example/x?n=2", "https://a.example/x?y=1", true],
    ["path", "https://a.example/x", "https://a.example/x/", false],
    ["path", "https://a.example/x", "http://a.example/x", false],
    ["prefix", "https://a.example/x", "https://a.example/xyz/1?b", true],
    ["prefix", "https://a.example/x", "https://a.example/y", false],
    ["glob", "https://a.example/products/*", "https://a.example/products/1?utm=a/b", true],
    ["glob", "https://a.example/products/*", "https://a.example/products/1/2", false],
    ["glob", "https://a.example/**/edit", "https://a.example/a/b/edit", true],
    ["glob", "https://*.example/x.html", "https://b.example/x.html", true],
    ["glob", "https://a.example/x.html", "https://a.example/xshtml", false],
    ["glob", "https://a.example/x?q=*", "https://a.example/x?q=1", true],
    ["path", "no address", "https://a.example/", false],
  ];
  for (const [match, url, address, isMatch] of cases)
    assert.equal(matchesAddress({ url, match }, address), isMatch, `${match} ${url} ${address}`);
});

describe("a page that changes its address itself", () => {
  const BODY = `<h1>A</h1><script>
    const original = history.pushState;
    history.pushState = function (...values) { window.wrapped = (window.wrapped ?? 0) + 1; return original.apply(this, values); };
    window.go = (path, title) => { history.pushState({}, "", path); document.querySelector("h1").textContent = title; };
  </script>`;

  for (const hasNavigation of [true, false])
    test(`changes follow it, ${hasNavigation ? "with" : "without"} the Navigation API`, async () => {
      const a = browser.serve(`/a-${hasNavigation}`, BODY);
      const b = browser.serve(`/b-${hasNavigation}`, BODY);
      const page = (url: string, id: string, text: string) => ({
        url,
        match: "path" as const,
        changes: [{ id, op: "setText" as const, selector: "h1", text }],
        css: `h1 { --page: ${id} }`,
        js: "",
      });
      const script = variantScript({ pages: [page(a, "a", "New A"), page(b, "b", "New B")] }, "main");
      const scripts = hasNavigation ? [script] : ["delete window.navigation", script];
      const { page: tab, problems, close } = await browser.open(a, scripts);
      const read = () =>
        tab.evaluate(() => [
          document.querySelector("h1")?.textContent,
          getComputedStyle(document.body.children[0] as Element).getPropertyValue("--page"),
          document.adoptedStyleSheets.length,
        ]);
      assert.equal(await tab.evaluate(() => "navigation" in window), hasNavigation);
      const go = (path: string, title: string) =>
        tab.evaluate(([to, text]) => Reflect.get(window, "go")(to, text), [path, title]);
      assert.deepEqual(await read(), ["New A", "a", 1]);
      await go(`/b-${hasNavigation}`, "B");
      await waitForState(tab, "applied", "b");
      assert.deepEqual(await read(), ["New B", "b", 1]);
      await go("/elsewhere", "Elsewhere");
      await waitFor(async () => (await readReport(tab)).pages === 0, "no page to match");
      assert.deepEqual(await read(), ["Elsewhere", "", 0]);
      await tab.evaluate(() => history.go(-2));
      await waitForState(tab, "applied", "a");
      assert.deepEqual(await read(), ["New A", "a", 1]);
      await tab.evaluate(() => Object.assign(location, { hash: "part" }));
      assert.deepEqual(await read(), ["New A", "a", 1]);
      await tab.evaluate((path) => history.replaceState({}, "", path), b);
      await waitForState(tab, "applied", "b");
      await revert(tab);
      assert.deepEqual(await read(), ["Elsewhere", "", 0]);
      assert.equal(await tab.evaluate(() => Reflect.get(window, "wrapped")), 2);
      assert.deepEqual(problems, []);
      await close();
    });

  test("a page entry that matches before and after a navigation keeps its changes", async () => {
    const url = browser.serve("/kept", `<h1>A</h1>`);
    const script = scriptOf(url, [{ op: "insert", selector: "h1", position: "after", html: "<p>new</p>" }], {
      match: "prefix",
    });
    const { page, close } = await browser.open(url, [script]);
    await page.evaluate(() => {
      Object.assign(window, { inserted: document.querySelector("p") });
      history.pushState({}, "", "?page=2");
    });
    await waitFor(async () => (await readReport(page)).url.endsWith("?page=2"), "the new address");
    assert.ok(await page.evaluate(() => Reflect.get(window, "inserted") === document.querySelector("p")));
    assert.equal((await readReport(page)).changes[0]?.reapplied, 0);
    await close();
  });
});
