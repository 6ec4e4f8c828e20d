import assert from "node:assert/strict";
import { test } from "node:test";
import type { Imported } from "../imported/imported.ts";
import { exportPostHog } from "./export-posthog.ts";
import { importPostHog } from "./import-posthog.ts";

const experiment = (
  transforms: unknown,
  conditions: unknown = { url: "https://a.example/x", urlMatchType: "exact" },
) => ({
  id: 7,
  name: "Test",
  feature_flag_key: "flag",
  created_at: "2026-01-01",
  variants: {
    control: {
      transforms: [{ selector: "p", html: "", text: "" }],
      conditions: "None",
      rollout_percentage: 50,
    },
    test: { transforms, conditions, rollout_percentage: 50 },
  },
});

function accept(imported: Imported) {
  assert.ok(imported.ok, JSON.stringify(imported));
  return imported;
}
function refuse(imported: Imported): string {
  assert.ok(!imported.ok, JSON.stringify(imported));
  return imported.problem;
}

test("every field of a transform becomes a change, in the order of posthog-js", () => {
  const transform = {
    selector: ":is(p)",
    text: "not used together with html",
    html: "<b>x</b>",
    css: "color: red",
    imgUrl: "/x.png",
    className: "a b",
    attributes: [{ name: "title", value: "t" }],
  };
  const { pages, omitted } = accept(
    importPostHog({ results: [experiment([transform, { selector: "b", text: "<x>" }])] }),
  );
  const set = (name: string, value: string) => ({ op: "setAttribute", selector: "p", name, value });
  assert.deepEqual(omitted, []);
  assert.deepEqual(pages, [
    {
      url: "https://a.example/x",
      match: "exact",
      changes: [
        set("title", "t"),
        { op: "setHtml", selector: "p", html: "<b>x</b>" },
        set("src", "/x.png"),
        set("class", "a b"),
        set("style", "color: red"),
        { op: "setText", selector: "b", text: "<x>" },
      ],
      css: "",
      js: "",
    },
  ]);
});

test("addresses that a page entry supports are imported, others are named", () => {
  const transforms = [{ selector: "p", html: "x" }];
  const read = (conditions: unknown, url?: string) => {
    const imported = importPostHog([experiment(transforms, conditions)], { url });
    return imported.ok
      ? [`${imported.pages[0]?.match} ${imported.pages[0]?.url}`, imported.omitted.length]
      : imported.problem;
  };
  const url = "https://a.example/x";
  assert.deepEqual(read({ url, urlMatchType: "exact" }), [`exact ${url}`, 0]);
  assert.deepEqual(read({ url }), [`prefix ${url}`, 1]);
  assert.deepEqual(read({ url, urlMatchType: "icontains", utm: { utm_source: "x" } }), [`prefix ${url}`, 2]);
  assert.deepEqual(read({ url: "^https:\\/\\/a\\.example\\/x$", urlMatchType: "regex" }), [
    `exact ${url}`,
    0,
  ]);
  assert.deepEqual(read({ url: "^https://a\\.example/x.*", urlMatchType: "regex" }), [`prefix ${url}`, 0]);
  for (const conditions of [
    null,
    { url: "/x" },
    { url: `${url}#y`, urlMatchType: "exact" },
    { url, urlMatchType: "is_not" },
    { url, urlMatchType: "constructor" },
    { url: "(a+)+$", urlMatchType: "regex" },
    { url: "^https://a.example/[", urlMatchType: "regex" },
  ]) {
    assert.match(String(read(conditions)), /^document: has no changes to import.*give the url of the page/);
    assert.deepEqual(read(conditions, url), [`path ${url}`, 1]);
  }
});

test("excluded addresses are exported, and imported again; a condition that excludes anything else is named", () => {
  const exclude = [
    { url: "https://a.example/shop/(admin)[x", match: "prefix" as const },
    { url: "https://a.example/*/x?y=*", match: "glob" as const },
    { url: "https://a.example/shop?a=1", match: "exact" as const },
    { url: "https://a.example/shop/cart", match: "path" as const },
  ];
  for (const [match, url] of [
    ["glob", "https://a.example/**"],
    ["prefix", "https://a.example/shop"],
    ["path", "https://a.example/shop"],
  ] as const) {
    const change = { id: "c1", op: "setText" as const, selector: "p", text: "x" };
    const page = { url, match, exclude, changes: [change], css: "", js: "" };
    const { document } = exportPostHog({ pages: [page] }, { name: "n", key: "k" });
    const { pages, omitted } = accept(importPostHog(document));
    assert.deepEqual([pages[0]?.url, pages[0]?.match, pages[0]?.exclude, omitted], [url, match, exclude, []]);
  }
  for (const pattern of [
    "(?!^https://a\\.example/x(a|b))^https://a\\.example/",
    "(?!^https://a\\.example/x",
    "(?!(?!^https://a\\.example/x))^https://a\\.example/",
    "(?!".repeat(1_000),
  ])
    assert.match(
      refuse(
        importPostHog(experiment([{ selector: "p", html: "x" }], { url: pattern, urlMatchType: "regex" })),
      ),
      /no equivalent here/,
    );
});

test("one variant of one experiment is imported; control is not a treatment", () => {
  const two = {
    ...experiment([{ selector: "p", html: "x" }]),
    variants: {
      control: { transforms: [{ selector: "p", html: "control" }] },
      b: {
        transforms: [{ selector: "p", html: "b" }],
        conditions: { url: "https://a.example/", urlMatchType: "exact" },
      },
      c: {
        transforms: [{ selector: "p", html: "c" }],
        conditions: { url: "https://a.example/", urlMatchType: "exact" },
      },
    },
  };
  const other = { ...experiment([{ selector: "p", html: "o" }]), feature_flag_key: "other" };
  const first = accept(importPostHog({ experiments: [two, other] }));
  assert.deepEqual(first.pages[0]?.changes, [{ op: "setText", selector: "p", text: "b" }]);
  assert.deepEqual(
    first.omitted.map((sentence) => sentence.split(":")[0]),
    ["experiments[1]", "experiments[0].variants.control", "experiments[0].variants.c"],
  );
  const named = accept(importPostHog({ experiments: [two, other] }, { experiment: "flag", variation: "c" }));
  assert.deepEqual(named.pages[0]?.changes, [{ op: "setText", selector: "p", text: "c" }]);
  assert.match(refuse(importPostHog(two, { variation: "toString" })), /^variation: there is no "toString"/);
});

test("transforms that do not pass the check are omitted", () => {
  const bad = [
    { html: "x" },
    { selector: "p" },
    { selector: "p", html: "<script>x</script>" },
    { selector: "p", attributes: [{ name: "onclick", value: "x" }] },
    { selector: "p}", html: "x" },
  ];
  const { pages, omitted } = accept(importPostHog(experiment([...bad, { selector: "p", html: "x" }])));
  assert.equal(pages[0]?.changes.length, 1);
  assert.deepEqual(
    omitted.map((sentence) => sentence.split(":")[0]),
    bad.map((_, index) => `variants.test.transforms[${index}]`),
  );
});

test("hostile input is refused with its field", () => {
  const hostile = JSON.parse('{"variants": {"__proto__": {"transforms": 1}}}');
  for (const [value, problem] of [
    [undefined, /^document: must be a web experiment/],
    [[1], /^\[0\]: /],
    [{ results: {} }, /^results: must be an array/],
    [{ variants: [] }, /^variants: must be an object/],
    [{ variants: { a: null } }, /^variants\.a: must be an object/],
    [{ variants: { "a b": { transforms: {} } } }, /^variants\["a b"\]\.transforms: must be an array/],
    [experiment([{ selector: {} }]), /^variants\.test\.transforms\[0\]\.selector: must be a string/],
    [experiment([], { url: 1 }), /^variants\.test\.conditions\.url: must be a string/],
    [hostile, /^variants\.__proto__\.transforms: must be an array/],
    [
      experiment(new Array(1_000_000).fill({})),
      /^variants\.test\.transforms: must hold at most 1,000 entries/,
    ],
    [
      experiment([{ selector: "p", html: "x".repeat(50 * 1024 * 1024) }]),
      /^document: must be at most 256 KiB/,
    ],
    [
      Object.fromEntries([
        ["variants", Object.fromEntries(Array.from({ length: 101 }, (_, index) => [index, {}]))],
      ]),
      /^variants: must hold at most 100/,
    ],
  ] as const)
    assert.match(refuse(importPostHog(value)), problem);
});
