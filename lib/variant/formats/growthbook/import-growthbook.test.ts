import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkDocumentContent } from "../../compile/check-document.ts";
import { variantDocumentSchema } from "../../document.ts";
import type { Imported } from "../imported/imported.ts";
import { importGrowthBook } from "./import-growthbook.ts";

type Mutation = Record<string, unknown>;

const changeset = (domMutations: Mutation[], over: Record<string, unknown> = {}) => ({
  id: "vc_1",
  organization: "org_1",
  urlPatterns: [{ include: true, type: "regex", pattern: "^https://shop\\.example/cart" }],
  editorUrl: "https://shop.example/cart",
  experiment: "exp_1",
  visualChanges: [
    { id: "1", variation: "v0", description: "", css: "", domMutations: [] },
    { id: "2", variation: "v1", description: "", css: "", domMutations, ...over },
  ],
});

function accept(imported: Imported) {
  assert.ok(imported.ok, JSON.stringify(imported));
  let last = 0;
  const document = variantDocumentSchema.parse({
    pages: imported.pages.map((page) => ({
      ...page,
      changes: page.changes.map((change) => ({ ...change, id: `c${++last}` })),
    })),
  });
  assert.deepEqual(checkDocumentContent(document), []);
  return imported;
}

function refuse(imported: Imported): string {
  assert.ok(!imported.ok, JSON.stringify(imported));
  return imported.problem;
}

const readChanges = (mutations: Mutation[]) =>
  accept(importGrowthBook(changeset(mutations))).pages[0]?.changes;

describe("mutations become changes", () => {
  test("for each kind of mutation", () => {
    const set = (attribute: string, value: string) => ({ selector: "p", action: "set", attribute, value });
    const cases: [Mutation, unknown][] = [
      [set("html", "a &amp; b"), { op: "setText", selector: "p", text: "a & b" }],
      [set("html", "<b>x</b>"), { op: "setHtml", selector: "p", html: "<b>x</b>" }],
      [
        { ...set("html", "<b>x</b>"), action: "append" },
        { op: "insert", selector: "p", position: "end", html: "<b>x</b>" },
      ],
      [set("class", "a b"), { op: "setAttribute", selector: "p", name: "class", value: "a b" }],
      [set("class", ""), { op: "removeAttribute", selector: "p", name: "class" }],
      [
        { ...set("class", "a"), action: "append" },
        { op: "addClass", selector: "p", className: "a" },
      ],
      [
        { ...set("class", "a"), action: "remove" },
        { op: "removeClass", selector: "p", className: "a" },
      ],
      [set("href", "/x"), { op: "setAttribute", selector: "p", name: "href", value: "/x" }],
      [
        { selector: "p", action: "remove", attribute: "href" },
        { op: "removeAttribute", selector: "p", name: "href" },
      ],
      [
        { ...set("style", "; COLOR: red; margin: 0 !important;--a:url(;)"), action: "append" },
        {
          op: "setStyle",
          selector: "p",
          style: { color: "red", margin: "0 !important", "--a": "url(;)" },
        },
      ],
      [
        { ...set("position", ""), parentSelector: "main" },
        { op: "move", selector: "p", position: "end", target: "main" },
      ],
      [
        { ...set("position", ""), parentSelector: "main", insertBeforeSelector: "#x" },
        { op: "move", selector: "p", position: "before", target: "#x" },
      ],
    ];
    for (const [mutation, change] of cases) assert.deepEqual(readChanges([mutation]), [change]);
  });

  test("an attribute that GrowthBook's editor appends is set, which is said", () => {
    const title = { selector: "p", action: "append", attribute: "title", value: "x" };
    const href = { selector: "a", action: "append", attribute: "aria-label", value: "Cart" };
    const imported = importGrowthBook({
      experiment: "e",
      urlPatterns: [{ include: true, type: "regex", pattern: "^https://shop\\.example/" }],
      visualChanges: [
        { variation: "0", domMutations: [] },
        { variation: "1", domMutations: [title, href] },
      ],
    });
    assert.ok(imported.ok, JSON.stringify(imported));
    assert.deepEqual(imported.pages[0]?.changes, [
      { op: "setAttribute", selector: "p", name: "title", value: "x" },
      { op: "setAttribute", selector: "a", name: "aria-label", value: "Cart" },
    ]);
    assert.equal(
      imported.omitted.filter((line) => /domMutations\[\d\]: it sets the attribute; /.test(line)).length,
      2,
    );
  });

  test("mutations that cannot become a change are named with their field, and the rest is imported", () => {
    const valid = { selector: "h1", action: "set", attribute: "html", value: "Kept" };
    const bad: [Mutation, RegExp][] = [
      [{ selector: "p", action: "explode", attribute: "html" }, /no action "explode" for "html"/],
      [{ selector: "p", action: "append", attribute: "class", value: " " }, /no class/],
      [{ selector: "p", action: "set", attribute: "position" }, /parentSelector/],
      [{ selector: "p", action: "set", attribute: "html", value: "<script>x</script>" }, /script/],
      [{ selector: "p", action: "set", attribute: "onclick", value: "x" }, /onclick/],
      [{ selector: "p", action: "set", attribute: "href", value: "javascript:x" }, /javascript:/],
      [{ selector: "p", action: "set", attribute: "__proto__", value: "x" }, /__proto__/],
      [{ selector: "p{", action: "set", attribute: "html", value: "x" }, /braces/],
      [{ selector: "p".repeat(1001), action: "set", attribute: "html", value: "x" }, /1,000/],
      [{ selector: "", action: "set", attribute: "html", value: "x" }, /selector must not be empty/],
      [{ selector: "p", action: "set", attribute: "a b", value: "x" }, /attribute name/],
      [
        { selector: "p", action: "append", attribute: "style", value: "color: red; __proto__: 1" },
        /cannot be added/,
      ],
    ];
    for (const [mutation, pattern] of bad) {
      const { pages, omitted } = accept(importGrowthBook([changeset([mutation, valid])]));
      assert.deepEqual(pages[0]?.changes, [{ op: "setText", selector: "h1", text: "Kept" }]);
      assert.equal(omitted.length, 1, JSON.stringify(omitted));
      assert.match(omitted[0] ?? "", /^\[0\]\.visualChanges\[1\]\.domMutations\[0\]: .*\.$/);
      assert.match(omitted[0] ?? "", pattern);
    }
  });

  test("scripts and style sheets are imported; an invalid script is named", () => {
    const page = accept(importGrowthBook(changeset([], { css: "p{}", js: "window.a = 1" }))).pages[0];
    assert.deepEqual([page?.css, page?.js], ["p{}", "window.a = 1"]);
    const { pages, omitted } = accept(importGrowthBook(changeset([], { css: "p{}", js: "}; evil(); {" })));
    assert.deepEqual([pages[0]?.js, pages[0]?.css], ["", "p{}"]);
    assert.match(omitted.join(), /^document: its js is not valid JavaScript/);
  });
});

describe("the imported part of a document", () => {
  const text = (value: string) => [{ selector: "p", action: "set", attribute: "html", value }];
  const payload = {
    status: 200,
    features: {},
    experiments: [
      { key: "r", variations: [{}, { urlRedirect: "https://b.example/" }], urlPatterns: [] },
      {
        key: "a",
        urlPatterns: [{ include: true, type: "simple", pattern: "shop.example/p/*" }],
        meta: [{ key: "0" }, { key: "1", name: "Red" }, { key: "2", name: "Blue" }],
        variations: [{}, { domMutations: text("red") }, { domMutations: text("blue") }],
      },
      { key: "b", urlPatterns: [], variations: [{}, { domMutations: text("b") }] },
    ],
  };
  const choose = (options: object) => importGrowthBook(payload, options);

  test("is the first treatment of the first experiment, or the one that the options name", () => {
    const red = accept(choose({ experiment: "a" }));
    assert.deepEqual(red.pages[0]?.changes, [{ op: "setText", selector: "p", text: "red" }]);
    assert.deepEqual([red.pages[0]?.url, red.pages[0]?.match], ["https://shop.example/p/**", "glob"]);
    assert.deepEqual(
      red.omitted.map((sentence) => sentence.split(": ")[0]),
      ["experiments[0]", "experiments[2]", "experiments[1].variations[2]", "experiments[1].urlPatterns[0]"],
    );
    const blue = accept(choose({ experiment: "a", variation: "Blue" }));
    assert.deepEqual(blue.pages[0]?.changes, [{ op: "setText", selector: "p", text: "blue" }]);
    assert.match(
      refuse(choose({ experiment: "a", variation: "Green" })),
      /^variation: there is no "Green".*"0"/,
    );
    assert.match(
      refuse(choose({ experiment: "x" })),
      /^experiment: there is no "x"; the document has "r", "a"/,
    );
    assert.match(refuse(choose({})), /^document: has no changes to import.*redirects/);
  });

  test("pages without a usable address need the url option", () => {
    const options = { experiment: "b" };
    assert.match(refuse(choose(options)), /there is no address to include; give the url/);
    const { pages } = accept(choose({ ...options, url: "https://shop.example/b" }));
    assert.deepEqual([pages[0]?.url, pages[0]?.match], ["https://shop.example/b", "path"]);
  });

  test("several patterns become several pages, each with the exclusions", () => {
    const urlPatterns = [
      { type: "simple", pattern: "https://shop.example/a" },
      { type: "simple", pattern: "/b" },
      { type: "regex", pattern: "^https:\\/\\/shop\\.example\\/(c|d)" },
      { include: false, type: "simple", pattern: "/a/e" },
      { include: false, type: "regex", pattern: "^https://shop\\.example/a" },
      { include: false, type: "regex", pattern: "(x|y)" },
    ];
    const { pages, omitted } = accept(importGrowthBook({ ...changeset(text("x")), urlPatterns }));
    assert.deepEqual(
      pages.map(({ url, match }) => `${match} ${url}`),
      ["path https://shop.example/a", "glob https://*/b"],
    );
    assert.match(
      omitted.join("\n"),
      /urlPatterns\[3\]: GrowthBook ignores case[\s\S]*urlPatterns\[5\]: the excluded pattern has no equiv[\s\S]*urlPatterns\[2\]: the pattern has no equiv/,
    );
    for (const { exclude } of pages)
      assert.deepEqual(exclude, [
        { url: "https://*/a/e", match: "glob" },
        { url: "https://shop.example/a", match: "prefix" },
      ]);
  });

  test("more exclusions than a page entry may have are named", () => {
    const excluded = Array.from({ length: 19 }, (_, index) => ({
      include: false,
      type: "regex",
      pattern: `^https://shop\\.example/x${index}`,
    }));
    const urlPatterns = [
      { type: "regex", pattern: `${"(?!^https://shop\\.example/y)".repeat(2)}^https://shop\\.example/` },
      ...excluded,
    ];
    const { pages, omitted } = accept(importGrowthBook({ ...changeset(text("x")), urlPatterns }));
    assert.equal(pages[0]?.exclude?.length, 20);
    assert.match(omitted.join(), /at most 20 addresses/);
  });

  test("an insertion is not made twice on a page that two patterns match", () => {
    const insert = [{ selector: "p", action: "append", attribute: "html", value: "x" }];
    const patterns = ["https://a.b/x/*", "https://a.b/x/y", "https://a.c/*"];
    const urlPatterns = patterns.map((pattern) => ({ type: "simple", pattern }));
    const { pages, omitted } = accept(importGrowthBook({ ...changeset(insert), urlPatterns }));
    assert.deepEqual(
      pages.map(({ url }) => url),
      ["https://a.b/x/**", "https://a.c/**"],
    );
    assert.equal(omitted.filter((sentence) => /twice/.test(sentence)).length, 1);
    const wild = `https://a.b/${"*x".repeat(50)}`;
    for (const pattern of [wild, "https://[/x"])
      assert.match(
        refuse(importGrowthBook({ ...changeset(insert), urlPatterns: [{ type: "simple", pattern }] })),
        /its address must/,
      );
    const many = [wild, `https://a.b/${"x".repeat(8_000)}!`].map((pattern) => ({ type: "simple", pattern }));
    assert.match(refuse(importGrowthBook({ ...changeset(insert), urlPatterns: many })), /wildcards/);
  });

  test("regular expressions that can hang are parsed and never run", () => {
    const pattern = `^https://shop.example/${"(a+)+".repeat(1_000)}$`;
    const urlPatterns = [{ type: "regex", pattern }];
    assert.match(refuse(importGrowthBook({ ...changeset(text("x")), urlPatterns })), /no equivalent/);
    for (const character of ["\\/", "(", "[^/]*", "\\", "*", " ", "#", "."]) {
      const long = [{ type: "regex", pattern: `^https://a.b/${character.repeat(100_000)}` }];
      importGrowthBook({ ...changeset(text("x")), urlPatterns: long });
      importGrowthBook({ ...changeset(text("x")), urlPatterns: [{ ...long[0], type: "simple" }] });
    }
  });
});

describe("hostile input is refused with its field", () => {
  const mutation = { selector: "p", action: "set", attribute: "html", value: "x" };

  test("other types and shapes", () => {
    for (const [value, problem] of [
      [null, /^document: must be a visual changeset/],
      ["x", /^document: /],
      [[], /^document: has no experiment/],
      [[[]], /^\[0\]: must be/],
      [{}, /^document: /],
      [{ experiments: 1 }, /^experiments: must be an array/],
      [{ encryptedExperiments: "x" }, /^encryptedExperiments: /],
      [{ visualChangesets: [null] }, /^visualChangesets\[0\]: /],
      [{ visualChanges: {} }, /^visualChanges: must be an array/],
      [
        { visualChanges: [{ domMutations: [{ ...mutation, selector: 1 }] }] },
        /^visualChanges\[0\]\.domMutations\[0\]\.selector: must be a string$/,
      ],
      [
        { visualChangeset: { visualChanges: [1] } },
        /^visualChangeset\.visualChanges\[0\]: must be an object$/,
      ],
      [
        { experiments: [{ key: "a", variations: [{ css: {} }] }] },
        /^experiments\[0\]\.variations\[0\]\.css: must be a string$/,
      ],
      [JSON.parse('{"__proto__": {"visualChanges": []}}'), /^document: /],
      [Object.create({ visualChanges: [] }), /^document: /],
    ] as const)
      assert.match(refuse(importGrowthBook(value)), problem, JSON.stringify(value));
    assert.equal(Reflect.get({}, "visualChanges"), undefined);
  });

  test("too large documents", () => {
    const long = "x".repeat(50 * 1024 * 1024);
    const { changesMax } = { changesMax: 200 };
    assert.match(
      refuse(importGrowthBook(changeset([{ ...mutation, value: long }]))),
      /^document: must be at most 256 KiB/,
    );
    assert.match(refuse(importGrowthBook(changeset([], { css: long }))), /256 KiB/);
    const many = Array.from({ length: changesMax + 1 }, () => mutation);
    assert.match(refuse(importGrowthBook(changeset(many))), /at most 200 changes in total, not 201/);
    const huge = new Array(1_000_000).fill(mutation);
    assert.match(
      refuse(importGrowthBook(changeset(huge))),
      /^visualChanges\[1\]\.domMutations: must hold at most 1,000 entries/,
    );
    assert.match(
      refuse(importGrowthBook({ visualChangesets: huge })),
      /^visualChangesets: must hold at most/,
    );
    let deep: unknown = [];
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    assert.match(refuse(importGrowthBook(deep)), /^\[0\]: /);
    accept(importGrowthBook({ ...changeset([mutation]), extra: deep }));
    const markup = "<b a><p>".repeat(10_000);
    const attempt = importGrowthBook(changeset([mutation, { ...mutation, value: markup }]));
    assert.match(accept(attempt).omitted.join(), /nodes|nested/);
  });

  test("pages with the same address are merged, and each script is kept", () => {
    const one = changeset([mutation], { js: "let a = 1; return", css: "p{}" });
    const { pages } = accept(importGrowthBook({ visualChangesets: [one, one] }));
    assert.equal(pages.length, 1);
    assert.equal(pages[0]?.changes.length, 2);
    assert.equal(pages[0]?.js.split("let a = 1").length, 3);
  });
});
