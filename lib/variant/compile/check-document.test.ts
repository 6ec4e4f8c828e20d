import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type Change,
  changeSchema,
  VARIANT_LIMITS,
  type VariantPage,
  variantDocumentSchema,
} from "../document.ts";
import { checkDocumentContent } from "./check-document.ts";

const page = (over: Partial<VariantPage> = {}): VariantPage => ({
  url: "https://shop.example/",
  match: "path",
  changes: [],
  css: "",
  js: "",
  ...over,
});
const check = (...pages: Partial<VariantPage>[]) => checkDocumentContent({ pages: pages.map(page) });
const checkChange = (change: Record<string, unknown>) =>
  check({ changes: [changeSchema.parse({ id: "c1", selector: "p", ...change })] });

describe("checking a document", () => {
  test("a valid one has no problems", () => {
    const changes: Change[] = [
      { id: "a", op: "setText", selector: "x-a >> p:has(> b) >> nth=1", text: "t" },
      { id: "b", op: "setHtml", selector: '[title="]("]', html: "<b>x</b>" },
      { id: "c", op: "setAttribute", selector: "a", name: "href", value: "https://a.example" },
      { id: "d", op: "move", selector: "a", position: "end", target: "ul > li:nth-child(2n + 1)" },
    ];
    const js = "if (location.hash) return;\nwindow.x = 1; // done";
    assert.deepEqual(
      check(
        { changes, js, css: "@import 'x'; p { color: red }" },
        { match: "glob", url: "https://*.example/p/*?q=**" },
      ),
      [],
    );
  });

  test("each problem names its field", () => {
    for (const [change, path, pattern] of [
      [{ op: "setHtml", html: "<script>" }, "html", /script elements are not allowed/],
      [{ op: "insert", position: "end", html: "<p onclick=x>" }, "html", /onclick is not allowed/],
      [{ op: "setAttribute", name: "onclick", value: "x" }, "name", /onclick is not allowed/],
      [{ op: "setAttribute", name: "srcdoc", value: "x" }, "name", /srcdoc/],
      [{ op: "setAttribute", name: "href", value: " JavaScript:x" }, "value", /javascript: URL/],
      [{ op: "remove", selector: "p:has(b:has(i))" }, "selector", /at most one :has/],
      [{ op: "remove", selector: "p:has(b):has(i)" }, "selector", /at most one :has/],
      [{ op: "remove", selector: "a b c d e f g h i j k l m" }, "selector", /at most 12 parts/],
      [{ op: "remove", selector: "p:not(.x" }, "selector", /brackets/],
      [{ op: "remove", selector: "p[title='x]" }, "selector", /quotation mark/],
      [{ op: "remove", selector: "p\\" }, "selector", /backslash/],
      [{ op: "remove", selector: "p/*" }, "selector", /comments/],
      [{ op: "remove", selector: "p{" }, "selector", /braces/],
      [{ op: "remove", selector: "p >> " }, "selector", /empty part/],
      [{ op: "move", position: "end", target: "p)" }, "target", /brackets/],
    ] as const) {
      const [problem, ...others] = checkChange(change);
      assert.equal(problem?.path, `pages[0].changes[0].${path}`, JSON.stringify(change));
      assert.match(problem?.problem ?? "", pattern);
      assert.deepEqual(others, []);
    }
  });

  test("addresses are absolute web addresses; globs have a host and a path", () => {
    for (const url of ["/x", "shop.example", "ftp://a.example/", "javascript:1", ""])
      assert.deepEqual(
        check({ url }).map(({ path }) => path),
        ["pages[0].url"],
        url,
      );
    for (const url of [
      "https://a.example",
      "*",
      "https://a.example/x#y",
      `https://a.example/${"*a".repeat(9)}`,
    ])
      assert.deepEqual(
        check({ url, match: "glob" }).map(({ path }) => path),
        ["pages[0].url"],
        url,
      );
  });

  test("a script is parsed as the body of a function, and never runs", () => {
    const [problem] = check({ js: "let a = 1;\nlet a = 2;" });
    assert.deepEqual(problem, {
      path: "pages[0].js",
      problem: "is not valid JavaScript: Identifier 'a' has already been declared in line 2",
    });
    for (const js of ["}; evil(); {", "import x from 'y'", "await 1", "(".repeat(90_000)])
      assert.equal(check({ js })[0]?.path, "pages[0].js", js.slice(0, 20));
    assert.deepEqual(check({ js: "globalThis.ranInCheck = true; throw 1" }), []);
    assert.equal("ranInCheck" in globalThis, false);
  });

  test("ids and pages are unique, and sizes are limited", () => {
    const change: Change = { id: "c1", op: "remove", selector: "p" };
    assert.deepEqual(check({ changes: [change] }, { url: "https://shop.example/x", changes: [change] }), [
      { path: "pages[1].changes[0].id", problem: "is the same id as pages[0].changes[0].id" },
    ]);
    assert.deepEqual(check({}, {}), [
      { path: "pages[1]", problem: "has the same url and match as pages[0]" },
    ]);
    assert.deepEqual(check({}, { match: "exact" }), []);
    const changes = Array.from({ length: VARIANT_LIMITS.changesMax + 1 }, (_, index) => ({
      ...change,
      id: `c${index}`,
    }));
    assert.match(check({ changes })[0]?.problem ?? "", /at most 200 changes/);
    const pages = Array.from({ length: VARIANT_LIMITS.pagesMax + 1 }, (_, index) => ({
      url: `https://a.example/${index}`,
    }));
    assert.match(check(...pages)[0]?.problem ?? "", /at most 20 pages/);
    // The limit counts bytes, and each of these characters has three bytes.
    assert.match(check({ css: "€".repeat(90_000) })[0]?.problem ?? "", /at most 256 KiB/);
  });

  test("names of inherited object properties, such as constructor, are valid names", () => {
    const document = variantDocumentSchema.parse({
      pages: [
        page({
          changes: [
            { id: "constructor", op: "addClass", selector: "p", className: "__proto__" },
            { id: "toString", op: "setAttribute", selector: "p", name: "constructor", value: "__proto__" },
          ],
        }),
      ],
    });
    assert.deepEqual(checkDocumentContent(document), []);
  });
});
