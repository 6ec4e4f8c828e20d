import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { exportJson } from "#lib/variant/formats/index.ts";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

describe("what is no defect is no finding", () => {
  test("routers, look-alikes, own matches, altered selectors, states, and a page that renders now and then", async () => {
    // Each part of the page resembles a defect. The router changes the address without loading a document. `#held`
    // renders again every 1.5 s. The page's own contrast errors get other selectors when an element is inserted.
    const url = bench.serve(
      "/calm",
      html(
        `<main><h1>Shop</h1><p class="line">One</p><p id="held">Held</p>
        <div id="notes"><p class="note">New here</p><p class="note pale">Pale</p></div>
        <ul id="list"><li class="first">First</li><li>Second</li></ul><aside class="aside pale">Aside</aside></main>
        <script>
          for (let at = 0; at < 4; at++) { history.replaceState(at, "", "?at=" + at); history.pushState(at, "", "?at=" + at); location.hash = "at" + at; }
          setInterval(() => { held.textContent = "Held"; }, 1500);
          setTimeout(() => notes.insertAdjacentHTML("beforeend", "<p class='note'>New in the shop</p>"), 400);
        </script>`,
        "<style>.pale { color: #ddd }</style>",
      ),
    );
    const report = await bench.check(
      documentOf(
        url,
        [
          { id: "held", op: "setText", selector: "#held", text: "Mine" },
          { id: "own", op: "insert", selector: "p.line", position: "after", html: '<p class="line">Two</p>' },
          {
            id: "alike",
            op: "insert",
            selector: "#notes",
            position: "start",
            html: '<p class="note">New</p>',
          },
          {
            id: "first",
            op: "insert",
            selector: "#list > .first",
            position: "before",
            html: "<li class='first'>Zero</li>",
          },
          { id: "class", op: "addClass", selector: "aside", className: "wide" },
        ],
        {
          css: "aside[hidden] { color: red } .line:is(:hover, :focus) { color: #004080 } .is-open > .line { color: #000 } [aria-expanded=true] + p { color: #000 }",
        },
      ),
      { limits: { loadedMs: 600 } },
    );
    assert.deepEqual(report.findings, []);
    assert.deepEqual(
      report.pages[0]?.changes.map(({ id, matched, rerender }) => [id, matched, rerender]),
      ["held", "own", "alike", "first", "class"].map((id) => [id, 1, "ok"]),
    );
  });
});

describe("what reaches further than meant is a finding", () => {
  test("a second element, an id that is taken, a prefix of another page, rules that match nothing", async () => {
    const url = bench.serve(
      "/wide",
      html(
        `<main><h1>Shop</h1><p class="price">1</p><p class="price">2</p><p id="taken">Taken</p><p><a href="/wide-help">Help</a></p></main>`,
      ),
    );
    const report = await bench.check(
      documentOf(
        url,
        [
          { id: "two", op: "setText", selector: ".price", text: "3" },
          { id: "id", op: "insert", selector: "h1", position: "after", html: '<p id="taken">New</p>' },
        ],
        { match: "prefix", css: "h1 { color: #004080 } .missing:hover { color: red }" },
      ),
    );
    assert.deepEqual(summarize(report), [
      "fail duplicate_id -",
      "warn several_matches two",
      "warn wide_pattern -",
      "warn no_match -",
    ]);
  });
});

test("a plain selector that matches in a shadow root is known to exports, which cannot reach there", async () => {
  const url = bench.serve(
    "/shadow",
    html(`<main><h1>Shop</h1><div id="host"></div><p class="both">Out</p></main>
      <script>host.attachShadow({ mode: "open" }).innerHTML = "<p class='in'>In</p><p class='both'>Both</p>";</script>`),
  );
  const document = documentOf(url, [
    { id: "in", op: "setText", selector: ".in", text: "New" },
    { id: "both", op: "addClass", selector: ".both", className: "new" },
    { id: "out", op: "setText", selector: "h1", text: "Sale" },
  ]);
  const check = await bench.check(document);
  assert.deepEqual(
    check.pages[0]?.changes.map(({ id, outcome, isInShadow }) => [id, outcome, isInShadow]),
    [
      ["in", "proved", true],
      ["both", "proved", true],
      ["out", "proved", undefined],
    ],
  );
  for (const format of ["growthbook", "posthog"] as const) {
    const revision = { key: "k", variant: "main", revision: 1, document };
    const listOmitted = (report: typeof check | null) =>
      exportJson(format, { ...revision, check: report }).omitted.map(({ changeId }) => changeId);
    assert.ok(!listOmitted(null).includes("in"));
    assert.ok(
      ["in", "both"].every((id) => listOmitted(check).includes(id)) && !listOmitted(check).includes("out"),
    );
  }
});
