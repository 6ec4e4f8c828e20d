import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { recordClicks } from "#lib/tools/browser/script/record-clicks.ts";
import type { Change } from "#lib/variant/document.ts";
import { type CheckBench, documentOf, html, openBench, summarize } from "./check-testing.ts";

let bench: CheckBench;
/** Methods of the requests to `/effect`. */
const effects: string[] = [];
before(async () => {
  bench = await openBench();
  bench.serve("/effect", (request, response) => {
    effects.push(`${request.method}`);
    response.end("{}");
  });
  for (const path of ["/subscribe", "/search", "/order"]) bench.serve(path, html("Found"));
});
after(() => bench.close());

const STYLE = `<style>
  button, input { min-height: 24px } form, #actions { margin: 8px }
  header { position: relative; height: 40px } header ul { position: absolute; top: 40px; left: 0; z-index: 5; background: #fff; margin: 0 }
  .hero { position: relative; z-index: 2; background: #eee; height: 120px; padding: 1px }
</style>`;
const menu = (name: string) => `<header id="${name}"><button aria-expanded="false">Menu ${name}</button>
  <ul hidden><li><a href="#${name}-one">One of ${name}</a></li></ul></header><div class="hero"><p id="${name}-one">One</p></div>`;
const form = (name: string, action: string) =>
  `<form id="${name}" action="${action}" method="post"><label>Mail for ${name} <input name="email" type="email" required></label><button>Send ${name}</button></form>`;

const SHOP = `<h1>Shop</h1>${menu("under")}${menu("cut")}
  <div id="actions"><button id="add" class="buy">Add to cart</button><a href="#size" class="size">Sizes</a></div>
  <p id="count">0</p><div id="size" hidden>All sizes</div>
  <div id="news">${form("handled", "/subscribe")}</div><p id="thanks">Thanks</p>
  ${form("action", "/subscribe")} ${form("field", "/order")}
  <form id="find" action="/search"><label>Find <input name="q"></label><label>In <input name="in" id="in"></label><button id="go">Go</button></form>
  <aside id="side"><p>Side</p></aside>`;
const scripts = (onCart: string) => `<script>
  for (const header of document.querySelectorAll("header")) {
    const [button, list] = [header.querySelector("button"), header.querySelector("ul")];
    button.onclick = () => { list.hidden = !list.hidden; button.setAttribute("aria-expanded", String(!list.hidden)); };
  }
  handled.addEventListener("submit", (event) => { event.preventDefault(); thanks.textContent = "Thank you"; });
  ${onCart}
</script>`;
const OWN = `add.addEventListener("click", () => { count.textContent = Number(count.textContent) + 1; });
  document.querySelector(".size").onclick = (event) => { event.preventDefault(); size.hidden = !size.hidden; };`;
const DELEGATED = `document.addEventListener("click", (event) => {
  if (event.target.closest(".buy")) count.textContent = Number(count.textContent) + 1;
  if (event.target.closest(".size")) { event.preventDefault(); size.hidden = !size.hidden; }
});`;
const ACTIONS =
  '<button id="add" class="buy">Add to bag</button><a href="#size" class="size">Sizes and fit</a>';

const RENDERING = `<div id="first"><label>Find <input id="q" autofocus></label></div><p id="hint">Hint</p>
  <div role="tablist" aria-label="Views"><button role="tab" id="t1" aria-selected="true">Offers</button><button role="tab" id="t2" aria-selected="false">News</button></div><div id="panel"></div>
  <script>
    q.oninput = () => { hint.textContent = "For " + q.value; };
    // Without the variant, the page is still busy with a click when the first key is pressed.
    const work = () => { for (const end = performance.now() + 60; performance.now() < end; ); };
    q.onmouseup = () => { if (!("__agentSessionVariants" in window)) for (let n = 0; n < 5; n += 1) scheduler.postTask(work, { priority: "user-blocking" }); };
    const views = { t1: "<p class='lead'>Offers of today</p>", t2: "<p class='lead'>News of today</p>" };
    for (const tab of [t1, t2]) tab.onclick = () => { panel.innerHTML = views[tab.id]; };
    t1.click();
  </script>`;
const RENDERED: Change[] = [
  { id: "hint", op: "setAttribute", selector: "#q", name: "placeholder", value: "Shoes" },
  { id: "lead", op: "setText", selector: "#panel .lead", text: "Today" },
];
/** A timer that is due while a control is clicked, as that of a clock is by chance. Here it is due without the variant. */
const tickAtClick = (id: string) =>
  `${id}.onmouseup = () => { if (!("__agentSessionVariants" in window)) setTimeout(tick); };`;
/**
 * A button that does something now and then, here not at the first click with the variant; a tip that a style sheet shows,
 * a clock, and a request with an effect.
 */
const RANDOM = `<style>.tip { display: none } #bar:focus-within .tip { display: block }</style>
  <div id="bar"><button id="roll">Roll</button><button id="del">Delete</button><button id="help">Help</button><p class="tip">Tip</p></div><p id="dice">Dice</p><p id="clock"></p>
  <script>
    const tick = () => { clock.textContent = String(performance.now()); };
    setInterval(tick, 250);
    ${tickAtClick("help")}
    let rolls = 0;
    roll.onclick = () => { if (rolls++ > 0 || !("__agentSessionVariants" in window)) dice.textContent = String(Math.random()); };
    del.onclick = () => fetch("/effect", { method: "DELETE" }).catch(() => {});
  </script>`;
const BAR: Change = { id: "bar", op: "addClass", selector: "#bar", className: "wide" };

describe("controls and forms are operated", () => {
  test("dead forms, lost listeners, and menus that are covered or cut off", async () => {
    const url = bench.serve("/defects", html(`<main>${SHOP}</main>${scripts(OWN)}`, STYLE));
    const report = await bench.check(
      documentOf(url, [
        { id: "html", op: "setHtml", selector: "#actions", html: ACTIONS },
        {
          id: "under",
          op: "setStyle",
          selector: "#under",
          style: { transform: "translateZ(0)", "z-index": "1" },
        },
        { id: "cut", op: "setStyle", selector: "#cut", style: { overflow: "hidden" } },
        { id: "handler", op: "setHtml", selector: "#news", html: form("handled", "/subscribe") },
        { id: "action", op: "setAttribute", selector: "#action", name: "action", value: "/missing" },
        { id: "field", op: "setAttribute", selector: "#field input", name: "name", value: "mail" },
        { id: "out", op: "move", selector: "#go", position: "start", target: "#side" },
      ]),
      { limits: { operateMs: 60_000 } },
    );
    assert.deepEqual(
      summarize(report).filter((line) => !line.includes("accessibility")),
      [
        "fail trapped under",
        "fail trapped cut",
        "fail dead_control html",
        "fail dead_form handler",
        "fail dead_form action",
        "fail dead_form field",
        "fail dead_form out",
      ],
    );
    const messages = report.findings.map(({ message }) => message).join("\n");
    assert.match(messages, /The form "Mail for field Send field" is dead: it no longer sends "email"\./);
    assert.match(messages, /leads to POST \S+\/missing, which answers 404/);
    assert.match(messages, /What the button "Menu under" opens is covered or cut off/);
    assert.ok(
      report.pages[0]?.changes.every(({ outcome }) => outcome === "failed"),
      "a change that breaks a control is not proved",
    );
  });

  test("no finding: delegated listeners, moved forms, harmless styles, what renders again, what happens by chance", async () => {
    const url = bench.serve("/harmless", html(`<main>${SHOP}</main>${scripts(DELEGATED)}`, STYLE));
    const report = await bench.check(
      documentOf(
        url,
        [
          { id: "html", op: "setHtml", selector: "#actions", html: ACTIONS },
          {
            id: "above",
            op: "setStyle",
            selector: "#under",
            style: { transform: "translateZ(0)", "z-index": "3" },
          },
          { id: "hero", op: "setStyle", selector: "#cut + .hero", style: { overflow: "hidden" } },
          { id: "text", op: "setText", selector: "#handled button", text: "Join now" },
          { id: "move", op: "move", selector: "#news", position: "end", target: "#side" },
          {
            id: "more",
            op: "insert",
            selector: "#action label",
            position: "after",
            html: '<label>Name <input name="first" required minlength="5"></label>',
          },
          { id: "less", op: "remove", selector: "#in" },
        ],
        { css: "header { color: #111 } #action { border: 1px solid #777 }" },
      ),
      { limits: { operateMs: 60_000 } },
    );
    assert.deepEqual(report.findings, []);
    const other = bench.serve("/calm", html(`<main><h1>Shop</h1>${RENDERING}${RANDOM}</main>`, STYLE));
    const calm = await bench.check(documentOf(other, [...RENDERED, BAR]));
    assert.deepEqual(calm.findings, []);
    assert.deepEqual(effects, [], "requests with effects are stopped");
  });
});

/** A page with a carousel whose slides cover each other in turn, and a field with suggestions. */
const COVERED = `<main><h1>Shop</h1><div id="slides"><button id="one">One</button><button id="two">Two</button></div><button id="buy">Buy</button><div class="card"><a class="image" href="/order">Picture</a> <a class="name" href="/order">Kettle</a></div><p id="count">0</p>
  <label for="city">City</label> <input id="city"><ul id="cities" hidden></ul></main>
  <style>main { position: relative } #slides { position: relative; height: 40px; width: 100px } #slides button { position: absolute; inset: 0 } .top { z-index: 1 }</style>
  <script>
    for (const each of [one, two, buy]) each.onclick = () => { count.textContent = Number(count.textContent) + 1; };
    const tick = () => { one.classList.toggle("top"); two.classList.toggle("top", !one.classList.contains("top")); };
    setInterval(tick, 300);
    ${tickAtClick("city")}
    city.oninput = () => { cities.innerHTML = "<li>Kiel</li>"; cities.hidden = false; };
  </script>`;

test("a style sheet that covers controls, lets clicks through, or moves what a field opens off the page", async () => {
  const url = bench.serve("/covered", html(COVERED));
  const label: Change = { id: "city", op: "setAttribute", selector: "#city", name: "class", value: "wide" };
  const listCodes = async (css: string) => {
    const limits = { operateMs: 60_000 };
    const lines = summarize(await bench.check(documentOf(url, [label], { css }), { limits }));
    return lines.filter((line) => /covered|trapped|dead_control/.test(line));
  };
  // Nothing reaches what is covered, so the field's list is tried without the cover.
  const cover = await listCodes("main::after { content: ''; position: absolute; inset: 0; z-index: 9 }");
  assert.ok(cover.includes("fail covered city"), cover.join());
  assert.ok(!/trapped|dead_control/.test(cover.join()), cover.join());
  assert.deepEqual(
    await listCodes("#buy { pointer-events: none } #cities { position: absolute; left: -9999px }"),
    ["fail trapped city", "fail covered -"],
  );
  assert.deepEqual(
    await listCodes(
      `main::after { content: ''; position: absolute; inset: 0; z-index: 9; pointer-events: none }
       .card { position: relative } .card .name::after { content: ''; position: absolute; inset: 0 }`,
    ),
    [],
  );
});

// The page renders again at each input and at each click on a tab. The variant's script replaces the field at each
// input, and stops the variant at the second tab.
test("a focus that is lost while people type, and a change that is lost when a tab renders its panel", async () => {
  const url = bench.serve("/rendering", html(`<main><h1>Shop</h1>${RENDERING}</main>`));
  const moved: Change = { id: "first", op: "move", selector: "#first", position: "after", target: "#hint" };
  const js = `q.addEventListener("input", () => q.replaceWith(q.cloneNode(true)));
    t2.addEventListener("click", () => window.__agentSessionVariants.main.revert());`;
  const report = await bench.check(documentOf(url, [...RENDERED, moved], { js }), {
    limits: { operateMs: 60_000 },
  });
  const lines = [...summarize(report), ...report.notes];
  assert.ok(lines.includes("fail focus_lost hint"), lines.join());
  assert.ok(lines.includes("fail focus_lost first"), lines.join());
  assert.ok(lines.includes("fail lost_at_render lead"), lines.join());
});

test("a script of the variant that disturbs typing into a distant field, and a new form without an address", async () => {
  const body = `<h1>Contact</h1><form action="/order"><p class="field"><label>${"N".repeat(59)}😀 <input name="who"></label></p></form><aside id="side"><p>Side</p></aside>`;
  const url = bench.serve("/contact", html(`<main>${body}</main>`, STYLE));
  const document = documentOf(url, [
    { id: "new", op: "insert", selector: "#side", position: "end", html: form("new", "/missing") },
  ]);
  const js = `const put = ({ target }) => { const field = target.closest(".field"); const { parentNode } = field ?? {}; if (parentNode) { field.remove(); parentNode.prepend(field); } };
    addEventListener("input", put); return () => removeEventListener("input", put);`;
  const pages = document.pages.map((page) => ({ ...page, js }));
  const report = await bench.check({ ...document, pages }, { limits: { operateMs: 60_000 } });
  assert.deepEqual(summarize(report), ["fail focus_lost -", "warn dead_form new"]);
  assert.ok(
    report.findings.every(({ message }) => message.isWellFormed() && !message.includes("\ufffd")),
    "names are cut by whole characters",
  );
});

test("only a caller who allows it lets the check send requests with effects", async () => {
  const url = bench.serve("/random", html(`<main><h1>Shop</h1>${RANDOM}</main>`));
  await bench.check(documentOf(url, [BAR]), { allowSubmits: true });
  assert.deepEqual(effects, ["DELETE", "DELETE"], "once without the variant and once with it");
});

describe("what is behind an interaction is opened", () => {
  const body = `<button id="more" aria-controls="panel" aria-expanded="false">More</button>
    <div id="panel" hidden><p id="note">Note</p></div><div id="late"></div>
    <button id="ask">Ask</button><dialog id="box" aria-label="Box"><p id="answer">Answer</p></dialog>
    <script>ask.onclick = () => box.showModal(); more.onclick = () => { panel.hidden = false; more.setAttribute("aria-expanded", "true"); late.innerHTML = "<p id='deep'>Deep</p>"; };</script>`;

  test("a step opens it, and the report proposes the step", async () => {
    const url = bench.serve("/behind", html(`<main><h1>Shop</h1>${body}</main>`));
    const asked: Change = { id: "answer", op: "setText", selector: "#answer", text: "Yes" };
    const document = documentOf(url, [
      { id: "note", op: "setText", selector: "#note", text: "New note" },
      { id: "deep", op: "setText", selector: "#deep", text: "New", late: true },
    ]);
    const [page] = document.pages;
    const closed = await bench.check(documentOf(url, [...(page?.changes ?? []), asked]), {
      limits: { lateMs: 100 },
    });
    // Failures come before what was not examined.
    assert.deepEqual(summarize(closed), [
      "fail no_match deep",
      "fail not_examined note",
      "fail not_examined answer",
    ]);
    assert.match(closed.findings[2]?.message ?? "", /"open":\[\{"click":"#ask"\}\]/);
    assert.match(
      closed.findings[1]?.message ?? "",
      /pages: \[\{"url":"[^"]+","open":\[\{"click":"#more"\}\]\}\]/,
    );
    const open = await bench.check(document, { pages: [{ url, open: [{ click: "#more" }] }] });
    assert.deepEqual(open.findings, []);
    assert.deepEqual(
      open.pages[0]?.changes.map(({ outcome }) => outcome),
      ["proved", "proved"],
    );
    const wrong = await bench.check(document, {
      pages: [
        { url, open: [{ click: "#more" }, { click: "#missing" }] },
        { url: `${bench.origin}/other`, open: [] },
      ],
      limits: { stepMs: 100 },
    });
    assert.deepEqual(
      wrong.findings.map(({ code, message }) => `${code} ${message}`),
      [
        `page_failed pages[1].url: the variant does not change ${bench.origin}/other. Name an address that an entry of the variant matches.`,
        `page_failed pages[0].open[1].click: "#missing" matches no element, when the page is opened. Correct the step.`,
      ],
    );
  });

  test("the report proposes the clicks of the live browser that opened it, and no other clicks", async () => {
    // Nothing in the markup says what opens what, and the last menu is rendered when it opens.
    const url = bench.serve(
      "/clicked",
      html(`<main><h1>Shop</h1><button id="other">Other</button><div id="bar"><b id="menu">Menu</b></div><div id="sub" hidden><b id="more">More</b></div><div id="deep"></div><div id="side" hidden><p id="tip">Tip</p></div></main>
        <script>
          const open = (element) => { element.hidden = false; };
          menu.onclick = () => open(sub);
          more.onclick = () => { deep.innerHTML = "<p id='item'>Item</p>"; menu.remove(); };
          other.onclick = () => open(side);
        </script>`),
    );
    const page = bench.browser.live.page();
    await recordClicks(bench.browser.live);
    await page.goto(url);
    for (const selector of ["#other", "#menu", "#more"]) await page.click(selector);
    const texts = ["#item", "#tip", "#never"].map(
      (selector): Change => ({
        id: selector.slice(1),
        op: "setText",
        selector,
        text: "New",
      }),
    );
    const { findings } = await bench.check(documentOf(url, texts), { limits: { applyMs: 100 } });
    const proposals = findings.map(({ changeId, message }) => [
      changeId,
      /pages: (.*)\.$/.exec(message)?.[1] ?? null,
    ]);
    const steps = (...clicks: string[]) =>
      JSON.stringify([{ url, open: clicks.map((click) => ({ click })) }]);
    assert.deepEqual(proposals, [
      ["item", steps("#menu", "#more")],
      ["never", null],
      ["tip", steps("#other")],
    ]);
  });
});
