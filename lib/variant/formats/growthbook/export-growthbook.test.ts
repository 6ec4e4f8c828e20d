import assert from "node:assert/strict";
import { test } from "node:test";
import type { Change, VariantPage } from "../../document.ts";
import { canOverlap } from "../portable/interplay.ts";
import { unwrapPageScript, wrapPageScript } from "../portable/page-script.ts";
import {
  couldMatch,
  isSingular,
  readSubjects,
  toSafeSelector,
  unwrapSelector,
} from "../portable/selector.ts";
import { readDeclarations, writeDeclarations } from "../portable/style.ts";
import { exportGrowthBook } from "./export-growthbook.ts";
import { importGrowthBook } from "./import-growthbook.ts";

const page = (over: Partial<VariantPage> = {}): VariantPage => ({
  url: "https://shop.example/",
  match: "path",
  changes: [],
  css: "",
  js: "",
  ...over,
});
const setText = (id: string, selector: string): Change => ({ id, op: "setText", selector, text: "x" });

test("a document has an entry for GrowthBook's REST API and one for its SDK for each page with an effect", () => {
  const pages = [
    page({ changes: [setText("a", "p")] }),
    page({ url: "https://shop.example/*", match: "glob", css: "p{}" }),
    page({ url: "https://shop.example/x", changes: [{ ...setText("b", "p"), off: true }], js: " \n" }),
  ];
  const { document, omitted } = exportGrowthBook({ pages }, { name: "Cart", key: "cart" });
  assert.deepEqual(omitted, []);
  const mutation = { selector: "p", action: "set", attribute: "html", value: "x" };
  assert.deepEqual(document.visualChangesets[0], {
    urlPatterns: [{ include: true, type: "regex", pattern: "^https://shop\\.example/(\\?[^#]*)?(#.*)?$" }],
    editorUrl: "https://shop.example/",
    experiment: "cart",
    visualChanges: [
      { variation: "0", description: "Control", css: "", js: "", domMutations: [] },
      { variation: "1", description: "Cart", css: "", js: "", domMutations: [mutation] },
    ],
  });
  assert.deepEqual(
    document.experiments.map(({ key, changeId, seed, variations }) => [
      key,
      changeId,
      seed,
      variations[1].css,
    ]),
    [
      ["cart", "cart-1", "cart", ""],
      ["cart", "cart-2", "cart", "p{}"],
    ],
  );
  assert.deepEqual(document.experiments[0]?.variations, [{}, { css: "", js: "", domMutations: [mutation] }]);
});

test("changes of pages that never apply together do not depend on each other", () => {
  const html: Change = { id: "h", op: "setHtml", selector: "main", html: "<p>x</p>" };
  const omit = (...pages: VariantPage[]) =>
    exportGrowthBook({ pages }, { name: "n", key: "k" }).omitted.map(({ changeId }) => changeId);
  const other = page({ url: "https://shop.example/x", changes: [setText("t", "p")] });
  assert.deepEqual(omit(page({ changes: [html] }), other), []);
  assert.deepEqual(omit(page({ changes: [html], match: "prefix" }), other), ["t"]);
});

test("page entries overlap if one address can match both", () => {
  const cases: [VariantPage["match"], string, VariantPage["match"], string, boolean][] = [
    ["path", "/a?x", "exact", "/a?y", true],
    ["path", "/a", "path", "/b", false],
    ["prefix", "/a", "path", "/ab", true],
    ["prefix", "/a", "path", "/b", false],
    ["prefix", "/a?x", "path", "/a", true],
    ["glob", "/*/b", "exact", "/a/b", true],
    ["glob", "/*/b", "path", "/a/c", false],
    ["glob", "/*", "prefix", "/a", true],
  ];
  for (const [match, url, otherMatch, otherUrl, expected] of cases) {
    const [one, other] = [
      page({ match, url: `https://a.example${url}` }),
      page({ match: otherMatch, url: `https://a.example${otherUrl}` }),
    ];
    assert.deepEqual(
      [canOverlap(one, other), canOverlap(other, one)],
      [expected, expected],
      `${match} ${url} ${otherUrl}`,
    );
  }
});

test("selectors that a browser might reject are wrapped in :is(), and unwrapped again", () => {
  for (const plain of ["p", "#a > .b-c", "a[href='x y'] + li:nth-child(2n + 1), *", ":is(a, b)", "p:empty"])
    assert.equal(toSafeSelector(plain), plain);
  for (const other of [
    "p:unknown",
    "a::before",
    "> p",
    "p >",
    "p,",
    "a:is(b)",
    ":is(a) :is(b)",
    "é",
    "p#1",
    "\\31",
  ]) {
    assert.equal(toSafeSelector(other), `:is(${other})`);
    assert.equal(unwrapSelector(toSafeSelector(other)), other);
  }
  for (const part of ["a ", "a", "[a]", ".a", ":first-child", "a,", " ", "> ", "((", "[a='", "\\"])
    for (const end of ["", "!"]) toSafeSelector(part.repeat(1_000 / part.length) + end);
});

test("the subject of a selector is its last compound", () => {
  assert.deepEqual(readSubjects("ul > LI.a.b:not(.c), div #x[title='a, b > c']"), [
    { tag: "li", id: null, classes: ["a", "b"] },
    { tag: null, id: "x", classes: [] },
  ]);
  for (const opaque of ["p.\\31", ".é", ":is(#a)", "*"])
    assert.deepEqual(readSubjects(opaque), [{ tag: null, id: null, classes: [] }]);
  assert.deepEqual(["#a", "p > b#a.c", "#a b", "#a, #b", "p"].map(isSingular), [
    true,
    true,
    false,
    false,
    false,
  ]);
  const element = { tag: "p", attributes: new Map([["class", "a b"]]) };
  assert.deepEqual(
    ["p", ".b", "main .a", "p.c", "#x", "b"].map((selector) => couldMatch(selector, element)),
    [true, true, true, false, false, false],
  );
});

test("styles are written as declarations and read again; values that would end a declaration are refused", () => {
  const style = { color: "red", "--a": "{ b: 1; }", background: 'url("a;b") !important' };
  assert.equal(writeDeclarations(style), 'color: red; --a: { b: 1; }; background: url("a;b") !important');
  assert.deepEqual(readDeclarations(`;${writeDeclarations(style)}`), style);
  for (const value of [
    "red; top: 0",
    "red }",
    "url(",
    '"a',
    "a\\",
    "/* a",
    "",
    " ! important",
    "red ! x",
    ")",
  ])
    assert.equal(writeDeclarations({ color: value }), undefined, value);
  for (const text of ["", "color", "a b: c", "color: red; (", "__proto__: 1"])
    assert.equal(readDeclarations(text), undefined, text);
});

test("a script is wrapped and unwrapped", () => {
  const js = "if (x) return;\n// end";
  assert.equal(unwrapPageScript(wrapPageScript(js)), js);
  assert.equal(unwrapPageScript(js), js);
  assert.equal(wrapPageScript(" "), "");
});

test("excluded addresses are exported, and imported again", () => {
  const change = { id: "c1", op: "setText" as const, selector: "h1", text: "x" };
  const exclude = [
    { url: "https://shop.example/admin", match: "prefix" as const },
    { url: "https://shop.example/*/x", match: "glob" as const },
  ];
  const page = {
    url: "https://shop.example/**",
    match: "glob" as const,
    exclude,
    changes: [change],
    css: "",
    js: "",
  };
  const { document } = exportGrowthBook({ pages: [page] }, { name: "n", key: "k" });
  assert.deepEqual(
    document.experiments[0]?.urlPatterns.map(({ include }) => include),
    [true, false, false],
  );
  const imported = importGrowthBook(document);
  assert.ok(imported.ok);
  assert.deepEqual([imported.pages[0]?.exclude, imported.omitted], [exclude, []]);
});
