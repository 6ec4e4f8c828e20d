import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Change } from "#lib/variant/document.ts";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
  bench.serve("/subscribe", html("Found"));
  bench.serve("/cities", (_request, response) => response.end('["Kiel"]'));
});
after(() => bench.close());

const setText = (selector: string, text: string): Change => ({ id: "text", op: "setText", selector, text });

/**
 * A form whose script demands consent and a choice, a carousel that also moves by itself, and a field whose suggestions
 * come with a request.
 */
const SHOP = html(`<main><h1>Shop</h1>
  <form id="news" action="/subscribe" method="post" novalidate><label>Mail <input name="email" type="email"></label>
    <label><input type="checkbox" id="box"> I agree to the <b>terms</b></label>
    <label><input type="radio" name="often" value="d"> Daily</label> <label><input type="radio" name="often" value="w"> Weekly</label> <button>Join</button></form>
  <div id="nav"><button id="next">Next</button></div><p id="slide">Slide 0</p>
  <label for="city">City</label> <input id="city"><ul id="cities" hidden></ul></main>
  <style>button, input { min-height: 24px; min-width: 24px }</style>
  <script>
    news.onsubmit = (event) => { if (!box.checked || !news.elements.often.value) event.preventDefault(); };
    const move = () => { slide.textContent = "Slide " + (Number(slide.textContent.slice(6)) + 1); };
    setInterval(move, 400);
    next.addEventListener("click", move);
    let timer;
    city.oninput = () => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        const names = await (await fetch("/cities?q=" + city.value)).json();
        setTimeout(() => { cities.innerHTML = names.map((name) => "<li>" + name + "</li>").join(""); cities.hidden = false; }, 50);
      }, 250);
    };
  </script>`);

describe("what only the page's script demands or does", () => {
  test("a field that a form no longer sends, listeners of a carousel, and suggestions off the page are found", async () => {
    const url = bench.serve("/shop", SHOP);
    const report = await bench.check(
      documentOf(
        url,
        [
          { id: "field", op: "setAttribute", selector: "#news [name=email]", name: "name", value: "mail" },
          { id: "next", op: "setHtml", selector: "#nav", html: '<button id="next">Next slide</button>' },
          { id: "city", op: "setAttribute", selector: "#city", name: "class", value: "wide" },
        ],
        { css: "#cities { position: absolute; left: -9999px }" },
      ),
      { limits: { operateMs: 60_000 } },
    );
    assert.deepEqual(summarize(report).toSorted(), [
      "fail dead_control next",
      "fail dead_form field",
      "fail trapped city",
    ]);
  });

  test("the same page with harmless changes has no findings", async () => {
    const url = bench.serve("/shop", SHOP);
    const report = await bench.check(
      documentOf(url, [
        setText("#next", "Next slide"),
        { id: "class", op: "addClass", selector: "#nav", className: "wide" },
        { id: "label", op: "setAttribute", selector: "#city", name: "placeholder", value: "Kiel" },
        { id: "join", op: "setText", selector: "#news button", text: "Join now" },
      ]),
      { limits: { operateMs: 60_000 } },
    );
    assert.deepEqual(report.findings, []);
  });
});

describe("a script of the variant that works against people", () => {
  const page = html('<main><h1>Shop</h1><p id="lead">Lead</p><a href="#lead">Lead</a></main>');
  const check = (js: string, css = "") => {
    const url = bench.serve("/plain", page);
    return bench.check(documentOf(url, [setText("#lead", "New")], { js, css }));
  };
  const cancel = (condition: string) =>
    `const cancel = (event) => { if (${condition}) event.preventDefault(); };
     addEventListener("keydown", cancel, true); return () => removeEventListener("keydown", cancel, true);`;

  test("cancels the keys with which people move: a finding, unless it handles them itself", async () => {
    assert.deepEqual(summarize(await check(cancel("true"))), ["fail dead_control -"]);
    const own = cancel("event.key === 'Escape' || event.key === 'ArrowDown'");
    assert.deepEqual(summarize(await check(own)), []);
    // A dialog that keeps the focus inside cancels the key, and moves the focus itself.
    const trap = `const link = document.querySelector("a");
      const keep = (event) => { if (event.key === "Tab") { event.preventDefault(); link.focus(); } };
      addEventListener("keydown", keep); return () => removeEventListener("keydown", keep);`;
    assert.deepEqual(summarize(await check(trap)), []);
  });

  test("hides the page for a long time: a finding, unless it is short", async () => {
    const hide = (ms: number) =>
      `const { style } = document.documentElement; style.opacity = "0"; setTimeout(() => style.removeProperty("opacity"), ${ms});
       return () => style.removeProperty("opacity");`;
    const long = await check(hide(2_500));
    const messages = long.findings.map(({ code, message }) => `${code} ${message}`);
    assert.match(
      messages.join("\n"),
      /^flicker With the variant people see an empty page for \d+ ms longer/m,
    );
    const byStyle = await check(
      "",
      "@keyframes show { to { visibility: visible } } body { visibility: hidden; animation: show 0s 2500ms forwards }",
    );
    assert.ok(summarize(byStyle).includes("warn flicker -"), summarize(byStyle).join());
    assert.ok(!summarize(await check(hide(50))).includes("warn flicker -"));
  });
});

test("a page that a phone shows smaller, because it is too wide, is clicked where its controls are", async () => {
  const url = bench.serve(
    "/phone",
    html(`<main><h1>Shop</h1><div id="wide"><button id="far" style="margin-left: 250px">Far</button></div><p id="count">0</p>
      <p><button id="near">Near</button></p></main><style>button { min-height: 24px }</style>
      <script>for (const each of [far, near]) each.onclick = () => { count.textContent = Number(count.textContent) + 1; };</script>`),
  );
  const change: Change = { id: "wide", op: "setStyle", selector: "#wide", style: { "min-width": "620px" } };
  const report = await bench.check(documentOf(url, [change]), { viewports: ["phone"] });
  assert.deepEqual(summarize(report), ["fail overflow wide"]);
});

test("a policy that forbids scripts is the reason, and one that allows them is none", async () => {
  const check = (path: string, policy: string) => {
    const url = bench.serve(path, (_request, response) => {
      response.writeHead(200, { "content-type": "text/html", "content-security-policy": policy });
      response.end(
        html("<main><h1>Shop</h1></main>", '<meta http-equiv="content-security-policy" content="sandbox">'),
      );
    });
    return bench.check(documentOf(url, [setText("h1", "New")]));
  };
  for (const policy of ["sandbox", "default-src *, sandbox allow-same-origin allow-forms"]) {
    const { findings } = await check("/sandboxed", policy);
    assert.deepEqual(
      findings.map(({ code }) => code),
      ["page_failed"],
    );
    assert.match(findings[0]?.message ?? "", /Content-Security-Policy \(sandbox\) forbids scripts/);
  }
  assert.deepEqual(summarize(await check("/scripted", "sandbox allow-scripts allow-same-origin")), []);
});
