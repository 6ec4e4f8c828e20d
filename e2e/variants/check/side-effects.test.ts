import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
});
after(() => bench.close());

describe("what a variant does to a page", () => {
  test("new errors, failed requests and violations are findings, each with its change; the repaired variant passes", async () => {
    const page = html(
      '<main><h1>Shop</h1><p id="text">Fine print</p><label for="mail" id="label">Email</label><input id="mail"><p>Body</p></main>',
      "<style>body { margin: 0; background: #fff }</style>",
    );
    const broken = documentOf(
      bench.serve("/side", page),
      [
        { id: "pale", op: "setStyle", selector: "#text", style: { color: "#ddd" } },
        { id: "mute", op: "remove", selector: "#label" },
        {
          id: "image",
          op: "insert",
          selector: "#text",
          position: "after",
          html: '<img src="/none.png" alt="None" width="10" height="10">',
        },
      ],
      {
        js: 'setTimeout(() => { throw new Error("variant 42 broke") }, 10);',
      },
    );
    const repaired = documentOf(bench.serve("/side-repaired", page), [
      { id: "pale", op: "setStyle", selector: "#text", style: { color: "#333" } },
      { id: "mute", op: "setText", selector: "#label", text: "Your email" },
    ]);
    const [bad, good] = await Promise.all([bench.check(broken), bench.check(repaired)]);
    assert.deepEqual(good.findings, []);
    assert.equal(bad.status, "fail");
    const found = summarize(bad);
    for (const expected of [
      "fail console_error -",
      "fail accessibility pale",
      "fail accessibility -",
      "warn failed_request -",
    ])
      assert.ok(found.includes(expected), `${expected} in ${found.join("; ")}`);
    const texts = bad.findings.map(({ message }) => message).join("\n");
    assert.match(texts, /variant 42 broke/);
    assert.match(texts, /color-contrast \(serious\): #text/);
    assert.match(texts, /label \(critical\): #mail/);
    assert.match(texts, /none\.png: 404/);
  });

  test("elements that overflow, are cut off, are covered or cover others are findings at the affected width", async () => {
    const page = html(
      `<main><h1>Shop</h1><p id="wide">Short</p><p id="cut" style="width: 100px; overflow: hidden; white-space: nowrap">Short</p>
       <p id="under" style="height: 40px">Under</p><p id="bar">Bar</p><button id="pay">Pay</button></main>
       <div id="over" style="position: absolute; left: 0; width: 100%; background: #fff">Over</div>`,
      "<style>body { margin: 8px }</style><script>addEventListener('DOMContentLoaded', () => { const place = () => { over.style.top = under.offsetTop - 60 + 'px' }; place(); addEventListener('resize', place) })</script>",
    );
    const url = bench.serve("/layout", page);
    const good = bench.serve("/layout-repaired", page);
    const broken = documentOf(url, [
      {
        id: "wide",
        op: "setHtml",
        selector: "#wide",
        html: '<span style="display: block; width: 600px; background: #eee">Wide</span>',
      },
      { id: "cut", op: "setText", selector: "#cut", text: "Far too long for its box, and hidden" },
      {
        id: "under",
        op: "setStyle",
        selector: "#under",
        style: { position: "absolute", top: "0", left: "0", "z-index": "-1" },
      },
      {
        id: "bar",
        op: "insert",
        selector: "main",
        position: "end",
        html: '<div style="position: fixed; inset: 0; background: #fffc">Offer</div>',
      },
    ]);
    const repaired = documentOf(good, [
      { id: "wide", op: "setText", selector: "#wide", text: "Wider" },
      { id: "cut", op: "setText", selector: "#cut", text: "Tiny" },
      { id: "bar", op: "insert", selector: "main", position: "end", html: "<p>Offer</p>" },
    ]);
    const [bad, fine] = await Promise.all([
      bench.check(broken, { viewports: ["desktop", "phone"] }),
      bench.check(repaired, { viewports: ["phone"] }),
    ]);
    assert.deepEqual(fine.findings, []);
    const found = bad.findings.map(({ code, changeId, viewport }) => `${code} ${changeId} ${viewport}`);
    assert.ok(found.includes("overflow wide phone"), found.join("; "));
    assert.ok(!found.includes("overflow wide desktop"), found.join("; "));
    assert.ok(found.includes("overflow cut desktop"), found.join("; "));
    assert.ok(found.includes("covered under desktop"), found.join("; "));
    assert.ok(found.includes("covered bar desktop"), found.join("; "));
  });

  test("a late change that moves the page is a warning about layout shift", async () => {
    const page = html(
      '<main><h1>Shop</h1><div id="app"></div><div style="height: 500px; background: #eee">Body</div></main><script>setTimeout(() => { app.className = "ready" }, 300)</script>',
    );
    const shifted = (height: string) =>
      documentOf(bench.serve("/shift", page), [
        { id: "c1", op: "setStyle", selector: "#app.ready", style: { height }, late: true },
      ]);
    const [large, small] = await Promise.all([
      bench.check(shifted("300px"), { limits: { loadedMs: 600 } }),
      bench.check(shifted("20px"), { limits: { loadedMs: 600 } }),
    ]);
    assert.deepEqual(summarize(large), ["warn layout_shift -"]);
    assert.equal(large.status, "warn");
    assert.ok((large.pages[0]?.layoutShift ?? 0) > 0.1);
    assert.deepEqual(small.findings, []);
  });

  test("requirements are checked on the page with the variant", async () => {
    const url = bench.serve(
      "/requirement",
      html("<main><h1>Shop</h1><p id='a'>One</p><p hidden id='b'>Two</p></main>"),
    );
    const document = documentOf(url, [{ id: "c1", op: "setText", selector: "h1", text: "Sale  today" }]);
    const require = (
      id: string,
      selector: string,
      is: "visible" | "hidden" | "text" | "count",
      value?: string,
    ) => ({
      id,
      text: `Requirement ${id}`,
      assertion: { url, selector, is, ...(value === undefined ? {} : { value }) },
    });
    const elsewhere = {
      id: "r9",
      text: "Other",
      assertion: { url: `${bench.origin}/other`, selector: "h1", is: "visible" as const },
    };
    const report = await bench.check(document, {
      requirements: [
        require("r1", "h1", "text", "Sale today"),
        require("r2", "#a", "visible"),
        require("r3", "#b", "hidden"),
        require("r4", "p", "count", "2"),
        require("r5", "#b", "visible"),
        require("r6", "h1", "text", "Shop"),
        require("r7", "p", "count", "3"),
        require("r8", "#a", "hidden"),
        elsewhere,
      ],
    });
    assert.deepEqual(summarize(report), Array(4).fill("fail requirement -"));
    assert.deepEqual(
      report.findings.map(({ message }) => /Requirement (r\d)/.exec(message)?.[1]),
      ["r5", "r6", "r7", "r8"],
    );
    assert.deepEqual(report.notes.length, 1);
    assert.match(report.notes[0] ?? "", /r9 was not checked/);
  });

  test("a page with clocks, random ids and noisy errors passes", async () => {
    const noise = `<script>
      const list = document.querySelector("#list");
      document.body.insertAdjacentHTML("beforeend", '<div id="w' + Math.random().toString(36).slice(2) + '" data-' + Math.random().toString(36).slice(2) + '="x"></div>');
      setInterval(() => { clock.textContent = performance.now() }, 30);
      setInterval(() => { list.insertAdjacentHTML("beforeend", "<li>" + Math.random() + "</li>"); if (list.children.length > 5) list.firstElementChild.remove() }, 40);
      console.error("load " + Math.random()); setTimeout(() => { throw new Error("page bug " + Date.now()) });
      fetch("/missing?t=" + Date.now());
    </script>`;
    const url = bench.serve(
      "/noise",
      html(`<main><h1>Shop</h1><p id="clock">0</p><ul id="list"></ul><p id="text">Text</p></main>${noise}`),
    );
    const report = await bench.check(
      documentOf(url, [{ id: "c1", op: "setText", selector: "#text", text: "New" }]),
    );
    assert.deepEqual(report.findings, []);
  });

  test("elements that the page itself toggles are not a trace, whatever their state in each load", async () => {
    // The two elements always have the same color on a page without the runtime of variants, and different colors on a
    // page with the runtime. The page on which the check reverted the changes has the runtime. Exactly one of its
    // elements therefore differs from the original page.
    const toggling = `<script>
      let count = 0;
      const toggle = () => {
        const isRed = count++ % 2 === 0;
        first.style.background = isRed ? "red" : "blue";
        second.style.background = isRed === "__agentSessionVariants" in window ? "blue" : "red";
      };
      toggle(); setInterval(toggle, 1500);
    </script>`;
    const url = bench.serve(
      "/toggling",
      html(`<main><h1>Shop</h1><div id="first">1</div><div id="second">2</div></main>${toggling}`),
    );
    const changes = ["#first", "#second"].map(
      (selector, index) => ({ id: `c${index + 1}`, op: "remove", selector }) as const,
    );
    const { findings } = await bench.check(documentOf(url, changes));
    assert.deepEqual(findings, []);
  });

  test("a copy of the change or a side effect of the script that remains after reverting is a trace", async () => {
    // The page copies the inserted element once: HTML is written without its source, and clones are reverted with it.
    const copying = (statement: string) =>
      `<script>let isCopied = false; new MutationObserver(() => { const made = document.querySelector(".note"); if (made && !isCopied) { isCopied = true; ${statement} } }).observe(document, { subtree: true, childList: true })</script>`;
    const page = (head: string) => html('<main><h1>Shop</h1><div id="spot"></div></main>', head);
    const changes = [
      { id: "c1", op: "insert", selector: "h1", position: "after", html: "<p class='note'>Note</p>" },
    ] as const;
    const copied = bench.serve(
      "/copies",
      page(copying('spot.innerHTML = made.outerHTML.replace("note", "copy");')),
    );
    const cloned = bench.serve(
      "/clones",
      page(copying("spot.append(made.cloneNode(true)); spot.firstChild.className = 'copy';")),
    );
    const clean = bench.serve("/clean", page(""));
    const [bad, restored, scripted, good] = await Promise.all([
      bench.check(documentOf(copied, [...changes])),
      bench.check(documentOf(cloned, [...changes])),
      bench.check(documentOf(clean, [...changes], { js: "document.documentElement.dataset.variant = 'on'" })),
      bench.check(documentOf(clean, [...changes])),
    ]);
    assert.deepEqual(summarize(bad), ["fail revert_left_trace -"]);
    assert.match(
      bad.findings[0]?.message ?? "",
      /<p class="copy"> was left in html > body > main > div#spot/,
    );
    assert.deepEqual(restored.findings, []);
    assert.deepEqual(summarize(scripted), ["fail revert_left_trace -"]);
    assert.match(scripted.findings[0]?.message ?? "", /data-variant="on"/);
    assert.deepEqual(good.findings, []);
  });
});
