import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TestService } from "../testing.ts";
import { listVariants, openVariantsService, playTurn, script, step } from "./variants-testing.ts";

let opened: Awaited<ReturnType<typeof openVariantsService>>;
let service: TestService;
let site: { url: string };

before(async () => {
  const nest = (depth: number): string =>
    depth === 0 ? "<b>x</b>" : `<div><div>${nest(depth - 1)}</div><p><i>y</i></p></div>`;
  const deep = Array.from({ length: 60 }, () => nest(60)).join("");
  opened = await openVariantsService((_request, response) => {
    response.setHeader("content-type", "text/html");
    response.end(`<!doctype html><title>Shop</title><h1>Shop</h1>${deep}`);
  });
  ({ service, site } = opened);
});
after(() => opened.close());

const insert = (html: string) => ({ op: "insert", selector: "h1", position: "after", html });
const change = (fields: object) => ({ add: [{ op: "setText", selector: "h1", text: "x", ...fields }] });
const page = (fields: object) => ({ set: [{ url: "https://shop.example/", changes: [], ...fields }] });
const proto = (json: string) => JSON.parse(json) as Record<string, unknown>;

/** Each entry: the kind of invalid input, an input of `apply_variant`, and a pattern for the expected refusal. */
const REFUSED: [string, Record<string, unknown>, RegExp][] = [
  [
    "a script element",
    { add: [insert("<script>alert(1)</script>")] },
    /change c1 \(insert\)\.html: .*script/,
  ],
  ["an event handler", { add: [insert('<img src="x" onerror="alert(1)">')] }, /\.html: .*onerror/],
  [
    "a javascript: link",
    { add: [insert('<a href=" jav\tascript:alert(1)">x</a>')] },
    /\.html: .*(javascript|href)/,
  ],
  [
    "a frame with a document",
    { add: [insert('<iframe srcdoc="<script>1</script>"></iframe>')] },
    /\.html: .*(srcdoc|iframe)/,
  ],
  ["a handler in SVG", { add: [insert("<svg onload=alert(1)></svg>")] }, /\.html: .*onload/],
  [
    "a refresh",
    { add: [insert('<meta http-equiv="refresh" content="0;url=//evil.example">')] },
    /\.html: .*meta/,
  ],
  [
    "a handler as an attribute",
    { add: [{ op: "setAttribute", selector: "h1", name: "onclick", value: "alert(1)" }] },
    /\.name: .*onclick/,
  ],
  [
    "a javascript: address as an attribute",
    { add: [{ op: "setAttribute", selector: "h1", name: "href", value: "javascript:alert(1)" }] },
    /\.value: .*javascript/,
  ],
  ["a script that does not parse", { js: "if (" }, /pages\[0\]\.js: is not valid JavaScript/],
  ["a script that leaves its function", { js: "} alert(1); {" }, /pages\[0\]\.js: is not valid JavaScript/],
  ["nested :has", change({ selector: "div:has(p:has(b))" }), /\.selector: /],
  ["siblings of :has", change({ selector: "li:has(~ li .x) ~ li ~ li" }), /\.selector: .*:has/],
  ["a chain of :has", change({ selector: "li:has(b):has(i):has(u)" }), /\.selector: /],
  [
    "a selector that is too long",
    change({ selector: "a".repeat(1_001) }),
    /selector: must be at most 1,000 characters/,
  ],
  ["an empty selector", change({ selector: "" }), /selector: must not be empty/],
  [
    "a text that is too long",
    change({ text: "x".repeat(20_001) }),
    /text: must be at most 20,000 characters/,
  ],
  ["201 changes", { add: Array(201).fill(change({}).add[0]) }, /add: /],
  ["more than 256 KiB", { add: Array(15).fill(change({ text: "x".repeat(19_000) }).add[0]) }, /256 KiB/],
  ["an unknown operation", change({ op: "eval" }), /op: must be one of "setText"/],
  ["an unknown field", change({ onClick: "x" }), /onClick/],
  [
    "a key of a prototype",
    proto('{"add":[{"op":"setStyle","selector":"h1","style":{"__proto__":"x"}}]}'),
    /prototype|style/,
  ],
  [
    "a style that is no property",
    { add: [{ op: "setStyle", selector: "h1", style: { "a;b": "x" } }] },
    /style/,
  ],
  [
    "an attribute that is no name",
    { add: [{ op: "removeAttribute", selector: "h1", name: "a b" }] },
    /name: /,
  ],
  ["a class with a space", { add: [{ op: "addClass", selector: "h1", className: "a b" }] }, /className: /],
  ["a file as a page", page({ url: "file:///etc/passwd" }), /pages\[0\]\.url: must be an absolute http/],
  ["a script as a page", page({ url: "javascript:alert(1)" }), /pages\[0\]\.url: must be an absolute http/],
  ["a pattern of everything", page({ url: "**", match: "glob" }), /pages\[0\]\.url: /],
  ["a pattern that hangs", page({ url: `https://a.example/${"*a".repeat(40)}`, match: "glob" }), /wildcards/],
  ["a page twice", { set: [page({}).set[0], page({}).set[0]] }, /pages\[1\]: /],
  ["21 pages", { set: Array.from({ length: 21 }, (_, n) => ({ url: `https://a.example/${n}` })) }, /set: /],
  [
    "an id twice",
    page({ changes: [change({ id: "c1" }).add[0], change({ id: "c1" }).add[0]] }),
    /\.id: is the same id/,
  ],
  ["a variant's name with a slash", { ...change({}), variant: "../main" }, /variant: must be 1 to 32/],
  ["a revision below zero", { ...change({}), baseRevision: -1 }, /baseRevision: /],
];

describe("hostile documents", () => {
  it("are refused with the field and a sentence, and nothing is stored", async () => {
    const { session, results } = await playTurn(
      service,
      [
        ...REFUSED.map(([, input]) => step("apply_variant", { baseRevision: 0, ...input })),
        script("return await page.evaluate(() => document.querySelector('h1').outerHTML)"),
      ],
      { targetUrl: site.url },
    );
    const wrong = REFUSED.flatMap(([name, , sentence], index) => {
      const answer = results[index] ?? "";
      return sentence.test(answer) && answer.length < 2_500 ? [] : [`${name}: ${answer.slice(0, 300)}`];
    });
    assert.deepEqual(wrong, []);
    assert.match(results.at(-1) ?? "", /<h1>Shop<\/h1>/);
    assert.deepEqual(await listVariants(service, session.sessionId), []);
  });

  it("are aborted if their selectors take too long on the page, which stays usable", async () => {
    const slow = (index: number) => `div:has(> div > div .none${index}) div div div`;
    const { session, results } = await playTurn(
      service,
      [
        step("apply_variant", {
          baseRevision: 0,
          add: Array.from({ length: 200 }, (_, index) => ({
            op: "addClass",
            selector: slow(index),
            className: "y",
            late: true,
          })),
        }),
        script("return await page.evaluate(() => 1 + 1)"),
      ],
      { targetUrl: site.url },
    );
    assert.match(results[0] ?? "", /The selectors take longer than 3 s on this page/);
    assert.match(results[1] ?? "", /2/);
    assert.deepEqual(await listVariants(service, session.sessionId), []);
  });
});
