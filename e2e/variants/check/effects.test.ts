import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type CheckBench, documentOf, html, openBench } from "./check-testing.ts";

let bench: CheckBench;
before(async () => {
  bench = await openBench();
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>';
  for (const path of ["/a.svg", "/b.svg", "/c.svg"])
    bench.serve(path, (_request, response) => {
      response.writeHead(200, { "content-type": "image/svg+xml" }).end(svg);
    });
});
after(() => bench.close());

test("a change is proved by its effect; of one that is not visible, the check says that it was not examined", async () => {
  const url = bench.serve(
    "/effects",
    html(
      `<main><h1>Shop</h1>
      <picture><source srcset="/a.svg"><img id="picture" src="/b.svg" alt="A"></picture><img id="set" src="/b.svg" srcset="/a.svg 1x" alt="B"><img id="plain" src="/b.svg" alt="C">
      <p id="important">Text</p><div id="children"><span class="own">Text</span></div><div id="inherits"><span>Text</span></div>
      <div id="painted"><p class="white">Text</p></div><p id="filled">Text</p>
      <button id="button" disabled>Buy</button><button id="other" disabled>Buy</button><label>A <input id="touched"></label><label>B <input id="untouched"></label>
      <fieldset disabled><legend>Pay</legend><button id="nested" disabled>Pay</button></fieldset>
      <p id="moved">Moved</p><div id="closed" hidden><p id="menu">Menu</p></div><p id="kept">Kept</p></main>
      <script>document.querySelector("#touched").value = "typed";</script>`,
      "<style>body { background: #fff } #important { color: #111 !important } .own { color: #222 } .white { margin: 0; background: #fff } #filled { -webkit-text-fill-color: #333 }</style>",
    ),
  );
  const style = (id: string, name: string) =>
    ({ id, op: "setStyle", selector: `#${id}`, style: { [name]: "rgb(240, 240, 250)" } }) as const;
  const color = (id: string) =>
    ({ id, op: "setStyle", selector: `#${id}`, style: { color: "#004080" } }) as const;
  const attribute = (id: string, name: string, value: string) =>
    ({ id, op: "setAttribute", selector: `#${id}`, name, value }) as const;
  const report = await bench.check(
    documentOf(url, [
      attribute("picture", "src", "/c.svg"),
      attribute("set", "src", "/c.svg"),
      attribute("plain", "src", "/c.svg"),
      color("important"),
      color("children"),
      color("inherits"),
      style("painted", "background-color"),
      color("filled"),
      attribute("button", "disabled", "false"),
      { id: "other", op: "removeAttribute", selector: "#other", name: "disabled" },
      { id: "nested", op: "removeAttribute", selector: "#nested", name: "disabled" },
      attribute("touched", "value", "new"),
      attribute("untouched", "value", "new"),
      { id: "moved", op: "move", selector: "#moved", position: "end", target: "#closed" },
      { id: "menu", op: "setText", selector: "#menu", text: "Our menu" },
      { id: "kept", op: "setStyle", selector: "#kept", style: { display: "none" } },
    ]),
  );
  assert.deepEqual(
    report.findings.map(({ code, changeId }) => `${code} ${changeId}`),
    [
      "no_effect picture",
      "no_effect set",
      "no_effect important",
      "no_effect children",
      "no_effect painted",
      "no_effect filled",
      "no_effect button",
      "no_effect nested",
      "no_effect touched",
      "not_visible moved",
      "not_examined menu",
    ],
  );
  const outcomes = report.pages[0]?.changes.map(({ id, outcome, reason }) => [id, outcome, reason]);
  assert.deepEqual(
    outcomes?.filter(([, outcome]) => outcome !== "failed"),
    [
      ["plain", "proved", null],
      ["inherits", "proved", null],
      ["other", "proved", null],
      ["untouched", "proved", null],
      ["menu", "not_examined", "It is not visible on the loaded page."],
      ["kept", "proved", null],
    ],
  );
  assert.equal(report.status, "fail");
});

test("a text in the colour of its background cannot be read, unless the page hides it so without the variant", async () => {
  const url = bench.serve(
    "/unseen",
    html(
      '<main><h1>Shop</h1><p id="note">A note</p><p id="own">Hidden</p></main>',
      "<style>body { background: #fff } #own { color: #fff }</style>",
    ),
  );
  const report = await bench.check(
    documentOf(url, [
      { id: "note", op: "setStyle", selector: "#note", style: { color: "#fff" } },
      { id: "own", op: "addClass", selector: "#own", className: "wide" },
    ]),
  );
  assert.deepEqual(
    report.findings.map(({ code, changeId }) => `${code} ${changeId}`),
    ["accessibility note"],
  );
  assert.match(report.findings[0]?.message ?? "", /1:1/);
});

test("a css rule for a state of the page is no warning, however the state is written", async () => {
  const url = bench.serve(
    "/states",
    html('<main><h1>Shop</h1><section><p class="card">Card</p></section></main>'),
  );
  const states = [
    "[hidden]",
    ".card[hidden]",
    "section:has(> [hidden])",
    ".card:is(.missing, [hidden])",
    ".card[data-visible]",
    ".card.current",
    ".card.card--open",
    ".card:where([popover], .missing)",
    "section [inert] .card",
    "p::first-letter",
    ".card[required]",
  ];
  const css = [...states, ".crad"].map((selector) => `${selector} { outline-offset: 1px }`).join("\n");
  const report = await bench.check(documentOf(url, [], { css }));
  assert.deepEqual(
    report.findings.flatMap(({ code, message }) => (code === "no_match" ? [message] : [])),
    ['The css rule for ".crad" matches no element of the page.'],
  );
});
