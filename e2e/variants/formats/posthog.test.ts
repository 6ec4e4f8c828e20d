import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import type { PageMatch, VariantDocument } from "#lib/variant/document.ts";
import { exportPostHog } from "#lib/variant/formats/posthog/export-posthog.ts";
import { importPostHog } from "#lib/variant/formats/posthog/import-posthog.ts";
import { documentOf, type FormatsBrowser, type Shown, startFormatsBrowser } from "./formats-fixture.ts";

let browser: FormatsBrowser;
let url = "";
let untouched: Shown;
before(async () => {
  browser = await startFormatsBrowser();
  url = browser.serve("/shop", BODY);
  const { shown, close } = await browser.applyPostHog(url, []);
  untouched = shown;
  await close();
});
after(() => browser.close());

const NAMED = { name: "New checkout", key: "checkout" };
const BODY = `<header id="top" class="a b" style="color: red">Shop</header>
<ul id="list"><li>One</li><li>Two</li></ul><button id="pay">Pay</button><textarea id="note">x</textarea>
<table><tr id="row"><td>1</td></tr></table><pre id="pre">x</pre><div id="side"><p>Side</p></div>
<svg class="icon" viewBox="0 0 9 9"><circle id="dot" r="2"/><text id="label">t</text></svg>`;

type Changes = Parameters<typeof documentOf>[1];

/** HTML with every element and every attribute that an export to PostHog allows. */
const RICH_HTML = `<h2 id="note-1" class="a" style="color: blue" title="t: x" lang="en" dir="ltr">H</h2>
<a href="https://a.example/?q=1:2" target="_blank">A</a><a href="mailto:a@b.example">M</a><a href="/x:y">P</a>
<img src="/x.png" alt="a: b" width="1" height="2" loading="lazy" data-x-y="a" aria-label="l">
<form method="post"><label for="mail">L</label><input name="mail-1" type="email" placeholder="P" required value="v: x" maxlength="9">
<select name="size-1"><option value="1" selected>One</option></select><button type="submit" disabled>Go</button></form>
<table><caption>C</caption><tbody><tr><th>H</th><td colspan="2">x</td></tr></tbody></table>
<details open><summary>S</summary><p>D<br>E</p></details><ol start="3"><li>x</li></ol><time datetime="2026-01-01">t</time>
<svg viewBox="0 0 9 9" fill="none"><g transform="scale(2)"><path d="M0 0L9 9" stroke="red" stroke-width="2"></path><circle cx="1" cy="1" r="1"></circle></g></svg>`;

const EXPRESSIBLE: Changes = [
  { op: "setText", selector: "#pay", text: 'Pay <now> & \u00a0later\n "fast"' },
  { op: "setText", selector: "#label", text: "a < b" },
  { op: "setText", selector: "textarea", text: "a < b" },
  { op: "setText", selector: "li", text: "all" },
  { op: "setHtml", selector: "#side", html: RICH_HTML },
  { op: "setHtml", selector: "tr", html: "<td>2</td><!-- c -->" },
  { op: "setAttribute", selector: "#top", name: "style", value: "top: 1px !important" },
];

/** Changes that PostHog cannot express, each with the expected reason. */
const OMITTED: [change: Changes[number], reason: RegExp][] = [
  [{ op: "setText", selector: "ul >> li", text: "x" }, /shadow roots/],
  [{ op: "setText", selector: "li >> nth=1", text: "x" }, /by number/],
  [{ op: "setText", selector: "#late", text: "x", late: true }, /once/],
  [{ op: "setText", selector: "#note", text: "" }, /empty content/],
  [{ op: "setHtml", selector: "#note", html: "<!-- c -->" }, /empty content/],
  [{ op: "setText", selector: "#note", text: "a\rb" }, /read differently/],
  [{ op: "setHtml", selector: "#row", html: "<td>2</td>" }, /read differently/],
  [
    { op: "setHtml", selector: "#list", html: "<iframe src='https://a.example/'></iframe>" },
    /element iframe/,
  ],
  [{ op: "setHtml", selector: "#list", html: "<my-part>x</my-part>" }, /element my-part/],
  [{ op: "setHtml", selector: "#list", html: "<a target=x>x</a>" }, /attribute target/],
  [{ op: "setHtml", selector: "#list", html: "<a target=_blank rel=opener>x</a>" }, /attribute rel/],
  [{ op: "setHtml", selector: "#list", html: "<a href='sms:1'>x</a>" }, /attribute href/],
  [{ op: "setHtml", selector: "#list", html: "<b id=body>x</b>" }, /attribute id/],
  [{ op: "setHtml", selector: "#list", html: "<b title='-->'>x</b>" }, /attribute title/],
  [{ op: "setHtml", selector: "p", html: "<p>x</p>" }, /elements that it inserts/],
  [{ op: "setAttribute", selector: "#note", name: "title", value: "x" }, /no attribute but style/],
  [{ op: "setAttribute", selector: "#note", name: "style", value: "" }, /no attribute but style/],
  [{ op: "removeAttribute", selector: "#note", name: "title" }, /no attribute but style/],
  [{ op: "addClass", selector: "#note", className: "x" }, /no classes/],
  [{ op: "removeClass", selector: "#note", className: "x" }, /no classes/],
  [{ op: "setStyle", selector: "#note", style: { color: "red" } }, /whole style attribute/],
  [{ op: "insert", selector: "#note", position: "end", html: "x" }, /where they are/],
  [{ op: "move", selector: "#note", position: "end", target: "#top" }, /where they are/],
  [{ op: "remove", selector: "#note" }, /form fields/],
];

/** Exports a document. Asserts that exactly the changes with the ids `omitted` are omitted. */
function exportDocument(document: VariantDocument, omitted: (string | null)[] = []) {
  const result = exportPostHog(document, NAMED);
  assert.deepEqual(
    result.omitted.map(({ changeId }) => changeId),
    omitted,
    JSON.stringify(result.omitted),
  );
  // Converts the result to JSON and back, because callers of the API get JSON.
  return JSON.parse(JSON.stringify(result.document)) as typeof result.document;
}

/**
 * Removes the `rel="noopener"` that posthog-js adds to links that open a window. Browsers behave the same without it.
 */
const withoutImpliedRel = (shown: Shown): Shown => ({
  ...shown,
  html: shown.html.replaceAll(' rel="noopener"', ""),
});

describe("a document in posthog-js", () => {
  test("each expressible change has the same effect as in the service's runtime, and survives an import", async () => {
    for (const change of EXPRESSIBLE) {
      const document = documentOf(url, [change]);
      const inRuntime = await browser.applyRuntime(url, document);
      const inSdk = await browser.applyPostHog(url, exportDocument(document).experiments);
      assert.notDeepEqual(inRuntime.shown, untouched);
      assert.deepEqual(withoutImpliedRel(inSdk.shown), inRuntime.shown, JSON.stringify(change));
      const imported = importPostHog(exportDocument(document));
      assert.ok(imported.ok);
      assert.deepEqual(imported.omitted, []);
      const [page] = imported.pages;
      const [again] = page?.changes ?? [];
      assert.deepEqual(
        [page?.url, page?.match, again?.op, again?.selector],
        [url, "path", change.op, change.selector],
      );
      const ids = imported.pages.map((each) => ({
        ...each,
        changes: each.changes.map((one) => ({ ...one, id: "c1" })),
      }));
      assert.deepEqual(exportDocument({ pages: ids }), exportDocument(document));
      await Promise.all([inRuntime.close(), inSdk.close()]);
    }
  });

  test("inexpressible changes are listed as omitted; the rest is applied", async () => {
    for (const [change, reason] of OMITTED) {
      const result = exportPostHog(documentOf(url, [change]), NAMED);
      assert.deepEqual(result.document.experiments, [], JSON.stringify(change));
      assert.equal(result.omitted.length, 1);
      assert.equal(result.omitted[0]?.changeId, "c1");
      assert.match(result.omitted[0]?.reason ?? "", reason);
    }
    const expressible: Changes = [
      { op: "setText", selector: "#pay", text: "Kept" },
      { op: "setText", selector: "#top", text: "not shown", off: true },
      { op: "setText", selector: "a:unknown", text: "never" },
      { op: "setText", selector: "#dot", text: "Dot" },
    ];
    const document = documentOf(url, [...expressible, ...OMITTED.map(([change]) => change)], {
      css: "#pay { color: red }",
      js: "window.ran = true",
    });
    const omitted = [...OMITTED.map((_, index) => `c${index + 5}`), null, null];
    const inRuntime = await browser.applyRuntime(url, documentOf(url, expressible));
    const inSdk = await browser.applyPostHog(url, exportDocument(document, omitted).experiments);
    assert.deepEqual(inSdk.shown, inRuntime.shown);
    await Promise.all([inRuntime.close(), inSdk.close()]);
  });

  test("addresses match as in the service's runtime", async () => {
    const origin = new URL(url).origin;
    const cases: [match: PageMatch, url: string][] = [
      ["path", url],
      ["path", `${origin}/sho`],
      ["exact", `${url}?q=1`],
      ["exact", url],
      ["prefix", `${origin}/sh`],
      ["prefix", `${origin}/op`],
      ["glob", `${origin}/*`],
      ["glob", `${origin}/*/*`],
      ["glob", `${origin}/s*?q=*`],
    ];
    const address = `${url}?q=1#part`;
    const pages = cases.map(([match, pattern], index) => {
      const [page] = documentOf(pattern, [], { match }).pages;
      assert.ok(page);
      return {
        ...page,
        changes: [{ id: `c${index}`, op: "setText" as const, selector: `#p${index}`, text: "new" }],
      };
    });
    const others = cases.slice(1).map(() => null);
    browser.serve("/shop", cases.map((_, index) => `<p id=p${index}>old</p>`).join(""));
    const { page, close } = await browser.applyPostHog(
      address,
      exportDocument({ pages }, others).experiments,
    );
    assert.deepEqual(
      await page.locator("p").allTextContents(),
      cases.map(([match, pattern]) => (matchesAddress({ url: pattern, match }, address) ? "new" : "old")),
    );
    await close();
    browser.serve("/shop", BODY);
    const imported = importPostHog(exportDocument({ pages }, others));
    assert.ok(imported.ok);
    assert.deepEqual(
      imported.pages.map((each) => [each.match, each.url]),
      cases,
    );
  });
});
