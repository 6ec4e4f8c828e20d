import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

/** Short limits, for pages on which an element never appears. */
const SHORT_LIMITS = { applyMs: 300, lateMs: 1_500 };

let bench: CheckBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

describe("a change on a fresh load", () => {
  test("passes with the proof of each step, pictures and times", async () => {
    const url = bench.serve(
      "/plain",
      html(
        '<main><h1>Checkout</h1><button id="pay" class="old wide">Buy</button><p class="ad">Ad</p><ul id="list"><li id="one">One</li><li id="two">Two</li></ul></main>',
      ),
    );
    const document = documentOf(
      url,
      [
        { id: "text", op: "setText", selector: "#pay", text: "Pay now" },
        { id: "class", op: "removeClass", selector: ".old", className: "old" },
        { id: "attribute", op: "setAttribute", selector: "button:not([title])", name: "title", value: "Pay" },
        { id: "style", op: "setStyle", selector: "h1", style: { color: "#004080" } },
        {
          id: "insert",
          op: "insert",
          selector: "h1",
          position: "after",
          html: "<p class='note'>Free <b>returns</b></p>",
        },
        { id: "move", op: "move", selector: "#two", position: "before", target: "#one" },
        { id: "remove", op: "remove", selector: ".ad" },
        { id: "off", op: "setText", selector: "#missing", text: "never", off: true },
      ],
      { css: ".note { font-weight: bold } .note:hover::before { content: 'x' }", js: "window.ran = true;" },
    );
    const steps: string[] = [];
    const report = await bench.check(document, {
      viewports: ["desktop", "phone"],
      onProgress: (done, total, message) => steps.push(`${done}/${total} ${message}`),
    });

    assert.deepEqual(report.findings, []);
    assert.equal(report.status, "pass");
    assert.deepEqual(steps, [`0/2 checking ${url} (desktop)`, `1/2 checking ${url} (phone)`]);
    for (const page of report.pages) {
      assert.deepEqual(
        page.changes.map(({ id, matched, applied, hydration, revert }) => [
          id,
          matched,
          applied,
          hydration,
          revert,
        ]),
        ["text", "class", "attribute", "style", "insert", "move", "remove"].map((id) => [
          id,
          1,
          "ok",
          "ok",
          "ok",
        ]),
      );
      assert.deepEqual(new Set(page.changes.map(({ rerender }) => rerender)), new Set(["ok"]));
      assert.deepEqual(
        new Set(page.changes.map(({ navigation }) => navigation)),
        new Set(["not_applicable"]),
      );
      assert.ok(page.paintToAppliedMs !== null);
      const ids = Object.values(page.pictures).map((picture) => picture?.id);
      const saved = bench.evidence.saved.filter(({ id }) => ids.includes(id));
      assert.deepEqual(
        saved.map(({ kind, mediaType }) => `${kind} ${mediaType}`),
        ["screenshot image/png", "screenshot image/png", "file image/png"],
      );
    }
  });

  test("fails if its selector matches nothing, or its element is not changed", async () => {
    const url = bench.serve(
      "/gone",
      html(
        '<main><h1>Shop</h1><p id="price" style="color: #111">10</p></main>',
        "<style>p { color: #222 !important }</style>",
      ),
    );
    const report = await bench.check(
      documentOf(url, [
        { id: "gone", op: "setText", selector: "#pay", text: "Pay now" },
        { id: "wrong", op: "setStyle", selector: "#price", style: { color: "nocolour" } },
        { id: "fine", op: "setText", selector: "h1", text: "Welcome" },
      ]),
      { limits: SHORT_LIMITS },
    );
    assert.equal(report.status, "fail");
    assert.deepEqual(summarize(report), ["fail no_match gone", "fail not_applied wrong"]);
    assert.match(report.findings[0]?.message ?? "", /"#pay" matches no element on a fresh load/);
    assert.match(report.findings[1]?.message ?? "", /rejects the style "color: nocolour"/);
  });

  test("waits for a late element, and fails if the element does not appear", async () => {
    const url = bench.serve(
      "/late",
      html(
        '<main><h1>Shop</h1><div id="app"></div></main><script>setTimeout(() => { app.innerHTML = "<p id=offer>Old</p>" }, 800)</script>',
      ),
    );
    const document = (id: string) =>
      documentOf(url, [{ id: "c1", op: "setText", selector: id, text: "New", late: true }]);
    const [found, missing] = await Promise.all([
      bench.check(document("#offer")),
      bench.check(document("#never"), { limits: SHORT_LIMITS }),
    ]);
    assert.deepEqual(summarize(found), []);
    assert.equal(found.pages[0]?.changes[0]?.applied, "ok");
    assert.deepEqual(summarize(missing), ["fail no_match c1"]);
  });

  test("fails if the page's scripts replace its element with one that does not match", async () => {
    const start = (render: string) =>
      html(
        `<main><h1>Shop</h1><div id="app"><p class="server">Hello</p></div></main><script>addEventListener("load", () => setTimeout(() => { app.innerHTML = ${JSON.stringify(render)} }, 200))</script>`,
      );
    const otherClass = bench.serve("/lost", start("<p class=client>Hello</p>"));
    const sameClass = bench.serve("/kept", start("<p class=server>Hello again</p>"));
    const document = (url: string) =>
      documentOf(url, [{ id: "c1", op: "setText", selector: ".server", text: "Hi" }]);
    const [broken, repaired] = await Promise.all([
      bench.check(document(otherClass), { limits: { ...SHORT_LIMITS, loadedMs: 1_000 } }),
      bench.check(document(sameClass)),
    ]);
    assert.deepEqual(summarize(broken), ["fail lost_at_hydration c1"]);
    assert.deepEqual(summarize(repaired), []);
  });

  test("fails if the page renders over it endlessly", async () => {
    const pageThatWrites = (selector: string) =>
      html(
        `<main><h1>Shop</h1><p id="clock">0</p><p id="calm">Calm</p></main><script>let n = 0; setInterval(() => { document.querySelector("${selector}").textContent = "tick " + n++ }, 150)</script>`,
      );
    const overwriting = bench.serve("/fight", pageThatWrites("#calm"));
    const unrelated = bench.serve("/peace", pageThatWrites("#clock"));
    const document = (url: string) =>
      documentOf(url, [{ id: "c1", op: "setText", selector: "#calm", text: "Mine" }]);
    const [broken, repaired] = await Promise.all([
      bench.check(document(overwriting)),
      bench.check(document(unrelated)),
    ]);
    assert.ok(summarize(broken).includes("fail fight c1"), summarize(broken).join());
    assert.deepEqual(summarize(repaired), []);
  });

  test("is verified in the document, even if the page fakes the runtime's report", async () => {
    const fakeReport = `<script>
      Object.defineProperty(Element.prototype, "textContent", { get: () => "Pay now", set() {} });
      Object.defineProperty(Node.prototype, "textContent", { get: () => "Pay now", set() {} });
      const fake = { report: () => ({ url: location.href, pages: 1, isHydrating: false, scriptError: null, changes: [{ id: "c1", state: "applied", matches: 1, applied: 1, reapplied: 0, appliedAtMs: 1, error: null }] }), update() {}, revert() {} };
      addEventListener("DOMContentLoaded", () => { window.__agentSessionVariants?.main?.revert(); window.__agentSessionVariants = { main: fake }; });
    </script>`;
    const url = bench.serve(
      "/lie",
      html('<main><h1>Shop</h1><button id="pay">Buy</button></main>', fakeReport),
    );
    const report = await bench.check(
      documentOf(url, [{ id: "c1", op: "setText", selector: "#pay", text: "Pay now" }]),
      {
        limits: SHORT_LIMITS,
      },
    );
    assert.equal(report.status, "fail");
    assert.match(summarize(report).join(), /fail (not_applied|lost_at_hydration) c1/);
  });
});

describe("a revision", () => {
  test("without anything to check fails", async () => {
    const url = bench.serve("/nothing", html("<main><h1>Shop</h1></main>"));
    const off = { id: "c1", op: "setText", selector: "h1", text: "Hi", off: true } as const;
    for (const document of [{ pages: [] }, documentOf(url, []), documentOf(url, [off])]) {
      const report = await bench.check(document);
      assert.deepEqual(summarize(report), ["fail nothing_to_check -"]);
      assert.equal(report.status, "fail");
    }
  });

  test("with only css fails if its css does not apply", async () => {
    const url = bench.serve("/css", html("<main><h1>Shop</h1></main>"));
    const check = (css: string) => bench.check(documentOf(url, [], { css }));
    const [valid, invalid, unused] = await Promise.all([
      check("h1 { color: #004080 }"),
      check("h1 color: red"),
      check("h1 { color: #004080 } .headline { color: red }"),
    ]);
    assert.deepEqual(summarize(valid), []);
    assert.deepEqual(summarize(invalid), ["fail not_applied -"]);
    assert.deepEqual(summarize(unused), ["warn no_match -"]);
    assert.equal(unused.status, "warn");
  });

  test("opens only web addresses, in any form", async () => {
    const h1 = [{ id: "c1", op: "setText", selector: "h1", text: "Hi" }] as const;
    bench.serve("/", html("<main><h1>Home</h1></main>"));
    const [local, unreadable, bare] = await Promise.all([
      bench.check(documentOf("file:///etc/hostname", [...h1], { match: "exact" })),
      bench.check(documentOf("shop", [...h1])),
      bench.check(documentOf(`${bench.origin}#top`, [...h1], { match: "exact" })),
    ]);
    assert.deepEqual(summarize(local), ["fail page_failed -"]);
    assert.deepEqual(summarize(unreadable), ["fail page_failed -"]);
    assert.deepEqual(summarize(bare), []);
    assert.equal(bare.pages[0]?.changes[0]?.applied, "ok");
  });

  test("opens the live page for a pattern, and fails if no page matches it", async () => {
    const url = bench.serve("/shop/a", html("<main><h1>Shop</h1></main>"));
    const changes = [{ id: "c1", op: "setText", selector: "h1", text: "Hi" }] as const;
    const glob = documentOf(`${bench.origin}/shop/*`, [...changes], { match: "glob" });
    const withoutPage = await bench.check(glob);
    assert.deepEqual(summarize(withoutPage), ["fail page_failed -"]);
    await bench.browser.live.page().goto(`${url}#top`);
    const withPage = await bench.check(glob);
    assert.deepEqual(summarize(withPage), []);
    assert.equal(withPage.pages[0]?.url, url);
  });
});
