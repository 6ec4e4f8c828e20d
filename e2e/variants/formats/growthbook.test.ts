import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { matchesAddress } from "#lib/injected/runtime/match-address.ts";
import { type PageMatch, type VariantDocument, variantDocumentSchema } from "#lib/variant/document.ts";
import { exportGrowthBook } from "#lib/variant/formats/growthbook/export-growthbook.ts";
import { importGrowthBook } from "#lib/variant/formats/growthbook/import-growthbook.ts";
import { documentOf, type FormatsBrowser, type Shown, startFormatsBrowser } from "./formats-fixture.ts";

let browser: FormatsBrowser;
let url = "";
let untouched: Shown;
before(async () => {
  browser = await startFormatsBrowser();
  url = browser.serve("/shop", BODY);
  const { shown, close } = await browser.applyGrowthBook(url, []);
  untouched = shown;
  await close();
});
after(() => browser.close());

const NAMED = { name: "New checkout", key: "checkout" };
const BODY = `<header id="top" class="a b" style="color: red !important; margin-left: 3px"><b>Shop</b> now</header>
<ul id="list"><li>One</li><li class="old">Two</li><li>Three</li></ul>
<form id="form"><input id="mail" name="mail" required><textarea id="note">x</textarea><button id="pay" type="button">Pay</button></form>
<form id="fields"><input name="parentNode"><input name="firstChild"><input name="nextSibling"><input name="insertBefore"></form>
<table><tr id="row"><td>1</td></tr></table><pre id="pre">x</pre><div id="side"><p>Side</p></div>
<svg class="icon" viewBox="0 0 9 9"><circle id="dot" r="2"/><text id="label">t</text></svg>`;

type Changes = Parameters<typeof documentOf>[1];

const EXPRESSIBLE: Changes = [
  { op: "setText", selector: "#pay", text: 'Pay <now> & \u00a0later\n  "fast"' },
  { op: "setText", selector: "#pay", text: "" },
  { op: "setText", selector: "#label", text: "a < b" },
  { op: "setText", selector: "textarea", text: "a < b" },
  { op: "setText", selector: "li:nth-child(2n + 1)", text: "odd" },
  {
    op: "setHtml",
    selector: "#top",
    html: '<i class="x">A</i> &amp; <!-- c --><svg viewBox="0 0 1 1"><path d="M0 0"/></svg>',
  },
  { op: "setHtml", selector: "#list", html: "<li>Only</li><li>Two" },
  { op: "setHtml", selector: "#top", html: "" },
  { op: "setAttribute", selector: "li", name: "title", value: 't "1"' },
  { op: "setAttribute", selector: "#dot", name: "fill", value: "blue" },
  { op: "setAttribute", selector: "#top", name: "class", value: "c  d" },
  { op: "setAttribute", selector: "#top", name: "class", value: "" },
  { op: "setAttribute", selector: "#top", name: "style", value: "top: 1px" },
  { op: "removeAttribute", selector: "#mail", name: "required" },
  { op: "removeAttribute", selector: "#top", name: "class" },
  { op: "removeAttribute", selector: "#top", name: "style" },
  { op: "addClass", selector: "#top", className: "on" },
  { op: "addClass", selector: "[name=mail]", className: "md:w-1/2" },
  { op: "removeClass", selector: "#top", className: "a" },
  { op: "removeClass", selector: ".old", className: "old" },
  {
    op: "setStyle",
    selector: "#top",
    style: { margin: "1px", "--gap": "{ a: 1 }", "background-image": "url('#a;b')" },
  },
  { op: "setStyle", selector: "#top", style: { color: "blue !important" } },
  { op: "setStyle", selector: "circle", style: { fill: "red" } },
  { op: "remove", selector: "li" },
  { op: "remove", selector: "#form" },
  { op: "remove", selector: "#mail" },
  { op: "move", selector: "#pay", position: "before", target: "ul#list" },
  { op: "move", selector: "#pay", position: "end", target: "div" },
  ...(["before", "start", "end", "after"] as const).map((position) => ({
    op: "insert" as const,
    selector: "li, #row > td",
    position,
    html: "<b class='new'>x</b> </script><!-- c --><i>y</i>",
  })),
];

/** Changes that GrowthBook cannot express, each with the expected reason. */
const OMITTED: [change: Changes[number], reason: RegExp][] = [
  [{ op: "setText", selector: "ul >> li", text: "x" }, /shadow roots/],
  [{ op: "setText", selector: "li >> nth=1", text: "x" }, /by number/],
  [{ op: "setText", selector: "style", text: "a > b {}" }, /read differently/],
  [{ op: "setText", selector: "#pre", text: "a\rb" }, /read differently/],
  [{ op: "setHtml", selector: "#row", html: "<td>2</td>" }, /read differently/],
  [{ op: "setHtml", selector: "textarea", html: "<b>x</b>" }, /read differently/],
  [{ op: "setHtml", selector: "#side", html: "<pre>\n\nx</pre>" }, /read differently/],
  [{ op: "setHtml", selector: "p", html: "<p>x</p>" }, /elements that it inserts/],
  [{ op: "setHtml", selector: "svg", html: "<circle r='1'/>" }, /read differently/],
  [{ op: "setHtml", selector: "#side", html: "<details><p>x</p></details>" }, /opens the details/],
  [{ op: "setAttribute", selector: "#side", name: "constructor", value: "x" }, /name constructor/],
  [{ op: "setAttribute", selector: "#side", name: "position", value: "x" }, /name position/],
  [{ op: "removeAttribute", selector: "#side", name: "html" }, /name html/],
  [{ op: "addClass", selector: "circle", className: "x" }, /SVG/],
  [{ op: "setAttribute", selector: "svg", name: "class", value: "x" }, /SVG/],
  [{ op: "setStyle", selector: "#side", style: { "--x": "1; color: red" } }, /not one CSS value/],
  [{ op: "setStyle", selector: "#side", style: { "--x": "" } }, /not one CSS value/],
  [{ op: "insert", selector: "p", position: "after", html: "<p>x</p>" }, /elements that it inserts/],
  [{ op: "insert", selector: "#side >> p", position: "after", html: "x" }, /shadow roots/],
  [{ op: "move", selector: "#pay", position: "start", target: "#side" }, /position start/],
  [{ op: "move", selector: "#pay", position: "after", target: "#side" }, /position after/],
  [{ op: "move", selector: "li", position: "end", target: "#side" }, /one element/],
  [{ op: "move", selector: "#pay", position: "before", target: "li" }, /one element/],
  [{ op: "remove", selector: "head > title" }, /document's head/],
];

/** Pairs of changes that GrowthBook cannot express together, each with the id of the change that is omitted. */
const DEPENDENT: [first: Changes[number], second: Changes[number], omitted: string][] = [
  [
    { op: "removeClass", selector: ".old", className: "old" },
    { op: "setText", selector: ".old", text: "new" },
    "c2",
  ],
  [
    { op: "setHtml", selector: "#list", html: "<li class=x>A</li>" },
    { op: "setText", selector: "#list .x", text: "B" },
    "c2",
  ],
  [{ op: "setHtml", selector: "#form", html: "<input>" }, { op: "remove", selector: "#side" }, "c2"],
  [
    { op: "removeAttribute", selector: "#mail", name: "required" },
    { op: "setAttribute", selector: ":required", name: "title", value: "t" },
    "c2",
  ],
  [
    { op: "move", selector: "#pay", position: "end", target: "#side" },
    { op: "move", selector: "#mail", position: "end", target: "#side" },
    "c1",
  ],
  [
    { op: "move", selector: "#pay", position: "end", target: "#side" },
    { op: "setText", selector: "#side", text: "x" },
    "c1",
  ],
  [
    { op: "remove", selector: "#side" },
    { op: "setStyle", selector: "div", style: { display: "block" } },
    "c2",
  ],
];

/** Exports a document. Asserts that exactly the changes with the ids `omitted` are omitted. */
function exportDocument(document: VariantDocument, omitted: (string | null)[] = []) {
  const result = exportGrowthBook(document, NAMED);
  assert.deepEqual(
    result.omitted.map(({ changeId }) => changeId),
    omitted,
    JSON.stringify(result.omitted),
  );
  // Converts the result to JSON and back, because callers of the API get JSON.
  return JSON.parse(JSON.stringify(result.document)) as typeof result.document;
}

/** Exports a document, and imports the result again. */
function reimport(document: VariantDocument): VariantDocument {
  const imported = importGrowthBook(exportDocument(document));
  assert.ok(imported.ok, JSON.stringify(imported));
  assert.deepEqual(imported.omitted, []);
  let last = 0;
  return variantDocumentSchema.parse({
    pages: imported.pages.map((page) => ({
      ...page,
      changes: page.changes.map((change) => ({ ...change, id: `c${++last}` })),
    })),
  });
}

describe("a document in GrowthBook's SDK", () => {
  for (const change of EXPRESSIBLE)
    test(`${change.op}: ${JSON.stringify({ ...change, op: undefined })}`, async () => {
      const document = documentOf(url, [change]);
      const inRuntime = await browser.applyRuntime(url, document);
      const inSdk = await browser.applyGrowthBook(url, exportDocument(document).experiments);
      assert.notDeepEqual(inRuntime.shown, untouched);
      assert.deepEqual(inSdk.shown, inRuntime.shown);
      assert.deepEqual(inSdk.problems, []);
      assert.deepEqual(exportDocument(reimport(document)), exportDocument(document));
      await Promise.all([inRuntime.close(), inSdk.close()]);
    });

  test("a whole variant, and the import of its export, have the same effect as in the service's runtime", async () => {
    const document = documentOf(
      url,
      [
        { op: "setText", selector: "#pay", text: "Pay <now>" },
        { op: "setHtml", selector: "#top", html: "<i>A</i>" },
        { op: "setAttribute", selector: "#row", name: "title", value: "t" },
        { op: "removeAttribute", selector: "#mail", name: "required" },
        { op: "addClass", selector: "#side", className: "on" },
        { op: "removeClass", selector: "li", className: "old" },
        { op: "setStyle", selector: "#pre", style: { color: "blue", margin: "2px !important" } },
        { op: "remove", selector: "#note" },
        { op: "move", selector: "#dot", position: "end", target: "#side" },
        { op: "setText", selector: "#pay", text: "no", off: true },
        { op: "setText", selector: "#none", text: "never", late: true },
      ],
      {
        css: "@import 'data:text/css,pre{top:9px}'; #side { padding: 3px } #row > td::after { content: '</style>' }",
        js: "const start = 1; (window.ran ??= []).push(start, document.querySelectorAll('#pay').length); return // end",
      },
    );
    const inRuntime = await browser.applyRuntime(url, document);
    const inSdk = await browser.applyGrowthBook(url, exportDocument(document).experiments);
    const again = await browser.applyRuntime(url, reimport(document));
    assert.deepEqual(inRuntime.shown.scripts, [1, 1]);
    assert.deepEqual(inSdk.shown, inRuntime.shown);
    assert.deepEqual(again.shown, inRuntime.shown);
    assert.equal(await inSdk.page.evaluate("typeof start"), "undefined");
    // When the experiment is applied again, as after a navigation within the page, the script does not run again.
    const ran = await inSdk.page.evaluate(async (experiments) => {
      const sdk = new (Reflect.get(window, "GrowthBook"))({ forcedVariations: { checkout: 1 } });
      await sdk.setPayload({ experiments });
      return Reflect.get(window, "ran");
    }, exportDocument(document).experiments);
    assert.deepEqual(ran, [1, 1]);
    await Promise.all([inRuntime.close(), inSdk.close(), again.close()]);
  });

  test("inexpressible changes are listed as omitted; the rest is applied", async () => {
    const expressible: Changes[number] = { op: "setText", selector: "#pay", text: "Kept" };
    for (const [change, reason] of OMITTED) {
      const [omission, ...others] = exportGrowthBook(documentOf(url, [change]), NAMED).omitted;
      assert.match(omission?.reason ?? "", reason, JSON.stringify(change));
      assert.deepEqual([omission?.changeId, omission?.url, others], ["c1", url, []]);
      assert.match(omission?.reason ?? "", /^GrowthBook cannot carry change c1 .*[^.]\.$/);
      assert.equal(exportGrowthBook(documentOf(url, [change]), NAMED).document.experiments.length, 0);
    }
    const expected = documentOf(url, [expressible]);
    const all = documentOf(url, [expressible, ...OMITTED.map(([change]) => change)]);
    const omitted = OMITTED.map((_, index) => `c${index + 2}`);
    assert.deepEqual(exportDocument(all, omitted), exportDocument(expected));
    const inSdk = await browser.applyGrowthBook(url, exportDocument(all, omitted).experiments);
    const inRuntime = await browser.applyRuntime(url, expected);
    assert.deepEqual(inSdk.shown, inRuntime.shown);
    await Promise.all([inRuntime.close(), inSdk.close()]);
  });

  test("changes that depend on each other are not exported together", async () => {
    for (const [first, second, omitted] of DEPENDENT) {
      const document = documentOf(url, [first, second]);
      const inSdk = await browser.applyGrowthBook(url, exportDocument(document, [omitted]).experiments);
      const inRuntime = await browser.applyRuntime(url, documentOf(url, [omitted === "c1" ? second : first]));
      assert.deepEqual(inSdk.shown, inRuntime.shown, JSON.stringify([first, second]));
      await Promise.all([inRuntime.close(), inSdk.close()]);
    }
  });

  test("an unknown selector and a move into itself do not stop other changes", async () => {
    const document = documentOf(url, [
      { op: "setText", selector: "#top:unknown", text: "never" },
      { op: "addClass", selector: ".icon", className: "never" },
      { op: "move", selector: "#form", position: "end", target: "#note" },
      { op: "setText", selector: "#pay", text: "Pay now" },
    ]);
    const inSdk = await browser.applyGrowthBook(url, exportDocument(document).experiments);
    assert.deepEqual(inSdk.problems, []);
    assert.equal(await inSdk.page.textContent("#pay"), "Pay now");
    await inSdk.close();
  });

  test("what its editor appends has the same effect after an import", async () => {
    const append = (selector: string, attribute: string, value: string) => ({
      selector,
      action: "append",
      attribute,
      value,
    });
    const domMutations = [
      append("#side", "html", "<i>more</i>"),
      append("#top", "class", "on"),
      append("#pre", "style", "color: blue;"),
      append("#pay", "title", "Pay now"),
      append("#row", "aria-label", "Row"),
    ];
    const experiment = {
      key: "editor",
      manual: false,
      variations: [{}, { domMutations }],
      urlPatterns: [{ include: true, type: "simple", pattern: url }],
    };
    const imported = importGrowthBook({ experiments: [experiment] });
    assert.ok(imported.ok, JSON.stringify(imported));
    const [page] = imported.pages;
    assert.ok(page);
    const inSdk = await browser.applyGrowthBook(url, [experiment]);
    const inRuntime = await browser.applyRuntime(
      url,
      documentOf(url, page.changes as Changes, { match: "path" }),
    );
    assert.notDeepEqual(inSdk.shown, untouched);
    assert.deepEqual(inRuntime.shown, inSdk.shown);
    await Promise.all([inRuntime.close(), inSdk.close()]);
  });

  test("a late element gets its change", async () => {
    const variant = documentOf(url, [{ op: "setText", selector: ".late", text: "New", late: true }]);
    const { page, close } = await browser.applyGrowthBook(url, exportDocument(variant).experiments);
    await page.evaluate(() => document.body.insertAdjacentHTML("beforeend", "<p class=late>Old</p>"));
    await page.waitForFunction(() => document.querySelector(".late")?.textContent === "New");
    await close();
  });

  test("insertions stand once, in their order, whatever the page and the SDK do, and end with the experiment", async () => {
    const insert = (position: "start" | "after", html: string) => ({
      op: "insert" as const,
      selector: "#side",
      position,
      html,
    });
    const variant = documentOf(url, [
      insert("after", "<b>A</b>"),
      insert("after", "<b>B</b>"),
      insert("start", "<i>C</i>"),
      insert("start", "<i>D</i>"),
      { op: "insert", selector: ".late", position: "end", html: "<u>E</u>" },
      { op: "insert", selector: "#fields", position: "start", html: "F" },
      { op: "insert", selector: "#fields", position: "after", html: "G" },
      { op: "addClass", selector: "#top", className: "on" },
    ]);
    const inRuntime = await browser.applyRuntime(url, variant);
    const inSdk = await browser.applyGrowthBook(url, exportDocument(variant).experiments);
    assert.deepEqual(inSdk.shown, inRuntime.shown);
    const { page } = inSdk;
    const read = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("b, i, u")].map(({ textContent }) => textContent).join(""),
      );
    await page.evaluate(() => document.body.insertAdjacentHTML("beforeend", "<p class=late></p>"));
    await page.waitForFunction(() => document.querySelector(".late u"));
    await page.evaluate(() => {
      const side = document.querySelector("#side");
      side?.replaceChildren("new");
      side?.nextElementSibling?.remove();
    });
    await page.waitForFunction(() => document.querySelectorAll("b, i").length === 5);
    assert.equal(await read(), "ShopCDBAE");
    await page.evaluate(async (experiments) => {
      const sdk = new (Reflect.get(window, "GrowthBook"))({ forcedVariations: { checkout: 1 } });
      await sdk.setPayload({ experiments });
      Reflect.set(window, "again", sdk);
    }, exportDocument(variant).experiments);
    assert.equal(await read(), "ShopCDBAE", "a second SDK inserts nothing again");
    await page.evaluate(() => {
      for (const script of document.head.querySelectorAll("script")) script.remove();
    });
    await page.waitForFunction(() => document.querySelectorAll("i, u").length === 0);
    assert.equal(await read(), "Shop");
    await Promise.all([inRuntime.close(), inSdk.close()]);
  });
});

describe("addresses in GrowthBook's SDK", () => {
  const origin = () => new URL(url).origin;
  const cases = (): [match: PageMatch, url: string, address: string][] => [
    ["path", `${origin()}/a/shop`, "/a/shop?q=1#part"],
    ["path", `${origin()}/a/shop`, "/a/shop/"],
    ["path", `${origin()}/a/shop`, "/A/shop"],
    ["exact", `${origin()}/a/shop?q=1`, "/a/shop?q=1#part"],
    ["exact", `${origin()}/a/shop?q=1`, "/a/shop?q=12"],
    ["exact", `${origin()}/a/shop?q=1`, "/a/shop?q=1&r=2"],
    ["prefix", `${origin()}/a/s`, "/a/shop/x?y=/z"],
    ["prefix", `${origin()}/a/s`, "/b/a/shop"],
    ["glob", `${origin()}/a/*/x`, "/a/shop/x?y=/z#w"],
    ["glob", `${origin()}/a/*/x`, "/a/shop/y/x"],
    ["glob", `${origin()}/a/**/x`, "/a/shop/y/x"],
    ["glob", `${origin()}/a/*?q=(*)`, "/a/shop?q=(1)"],
    ["glob", `${origin()}/a/*?q=(*)`, "/a/shop?q=1"],
  ];

  test("match as in the service's runtime, and survive an export and import", async () => {
    const { page, close } = await browser.applyGrowthBook(url, []);
    for (const [match, pattern, path] of cases()) {
      const document = documentOf(pattern, [{ op: "setText", selector: "#pay", text: "x" }], { match });
      const isApplied = await page.evaluate(
        async ([experiments, href]) => {
          let applied = false;
          const GrowthBook = Reflect.get(window, "GrowthBook");
          const sdk = new GrowthBook({
            url: href,
            forcedVariations: { checkout: 1 },
            applyDomChangesCallback: () => {
              applied = true;
              return () => {};
            },
          });
          await sdk.setPayload({ experiments });
          return applied;
        },
        [exportDocument(document).experiments, origin() + path] as const,
      );
      assert.equal(
        isApplied,
        matchesAddress({ url: pattern, match }, origin() + path),
        `${match} ${pattern} ${path}`,
      );
      const [again] = reimport(document).pages;
      assert.deepEqual([again?.url, again?.match], [pattern, match]);
    }
    await close();
  });

  test("excluded addresses are excluded there, too", async () => {
    const { page, close } = await browser.applyGrowthBook(url, []);
    const rule = {
      url: `${origin()}/a/**`,
      match: "glob" as const,
      exclude: [
        { url: `${origin()}/a/admin`, match: "prefix" as const },
        { url: `${origin()}/a/*/x`, match: "glob" as const },
        { url: `${origin()}/a/cart?full=1`, match: "exact" as const },
      ],
    };
    const { experiments } = exportDocument(
      documentOf(rule.url, [{ op: "setText", selector: "#pay", text: "x" }], rule),
    );
    for (const path of ["/a/shop", "/a/admin/users", "/a/shop/x", "/a/shop/y", "/a/cart", "/a/cart?full=1"]) {
      const isApplied = await page.evaluate(
        async ([list, href]) => {
          let applied = false;
          const sdk = new (Reflect.get(window, "GrowthBook"))({
            url: href,
            forcedVariations: { checkout: 1 },
            applyDomChangesCallback: () => {
              applied = true;
              return () => {};
            },
          });
          await sdk.setPayload({ experiments: list });
          return applied;
        },
        [experiments, origin() + path] as const,
      );
      assert.equal(isApplied, matchesAddress(rule, origin() + path), path);
    }
    await close();
  });

  test("all pages of a variant are in one experiment: a visitor has the same variation on all of them", async () => {
    const one = documentOf(url, [{ op: "setText", selector: "#pay", text: "One" }]);
    const two = documentOf(url, [{ op: "setText", selector: "#top", text: "Two" }], { match: "prefix" });
    const [page] = two.pages;
    assert.ok(page?.changes[0]);
    const document = { pages: [...one.pages, { ...page, changes: [{ ...page.changes[0], id: "d1" }] }] };
    const { experiments } = exportDocument(document);
    const { page: tab, close } = await browser.applyGrowthBook(url, experiments);
    assert.deepEqual(await tab.locator("#pay, #top").allTextContents(), ["Two", "One"]);
    const variations = await tab.evaluate(async (list) => {
      const seen: unknown[] = [];
      for (let visitor = 0; visitor < 40; visitor++) {
        const GrowthBook = Reflect.get(window, "GrowthBook");
        const sdk = new GrowthBook({
          attributes: { id: `visitor-${visitor}` },
          disableVisualExperiments: true,
        });
        seen.push(list.map((each) => sdk.run(each).variationId));
      }
      return seen.map(String);
    }, experiments);
    assert.deepEqual([...new Set(variations)].sort(), ["0,0", "1,1"]);
    await close();
  });
});
