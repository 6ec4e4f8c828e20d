import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startSite, startTestBrowser, type TestBrowser } from "#lib/tools/browser/test-fixture.ts";
import type { Change, VariantDocument } from "../document.ts";
import { groundChanges } from "./ground-changes.ts";

const PAGE = `<!doctype html><html lang="en"><title>Shop</title><main class="shop"><h1>Shop</h1>
  <button id="pay" class="primary">Pay</button><details><summary>More</summary><p data-testid="terms">Terms</p></details></main>`;

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
before(async () => {
  site = await startSite({ "/shop": PAGE });
  browser = await startTestBrowser();
  await browser.live.page().goto(`${site.url}/shop`);
});
after(async () => {
  await Promise.all([browser?.close(), site?.close()]);
});

/** Tries a variant on the page. Returns the problems of its css, without the place. */
async function findProblems(css: string, changes: Change[] = [], before?: VariantDocument) {
  const page = { url: `${site.url}/shop`, match: "path" as const, css, js: "", changes };
  const document: VariantDocument = { pages: [page] };
  const grounding = await groundChanges(browser.live, {
    variant: "main",
    document,
    before: before ?? { pages: [] },
    previous: "",
  });
  assert.ok(grounding.ok, JSON.stringify(grounding));
  return {
    document,
    lines: grounding.cssProblems.map((line) => line.replace(`css of ${site.url}/shop`, "css")),
  };
}

test("names unknown properties, invalid values and rules without effect, once each", async () => {
  const { lines, document } = await findProblems(`/* "a" { */
    #pay { colour: red; color: rd !important; background: url("a;b}c"); widht: 1px; color }
    #pya, .shop > h2 { margin: 0 }
    .shop:hovr { margin: 0 }
    @meda (min-width: 1px) { h1 { margin: 0 } }
    @media (max-width: 1px) { .shpo { margin: 0; & h1 { padding: 1 } } }
    main { .primry { margin: 0 } > button { display: flexbox } }
    [data-testid="trems"] { margin: 0 }`);
  assert.deepEqual(lines, [
    "css: @meda has no effect here.",
    'css, "#pay": "colour" is not a property that the browser knows.',
    'css, "#pay": "rd" is not a value of color.',
    'css, "#pay": "widht" is not a property that the browser knows.',
    'css, "#pay": "color" is not a declaration with a value.',
    'css, "#pya, .shop > h2": matches no element of this page.',
    'css, ".shop:hovr": the selector is invalid, so the browser ignores the rule.',
    'css, ".shpo": matches no element of this page.',
    'css, ":is(.shpo) h1": matches no element of this page.',
    'css, ":is(.shpo) h1": "1" is not a value of padding.',
    'css, ":is(main) .primry": matches no element of this page.',
    'css, ":is(main) > button": "flexbox" is not a value of display.',
    'css, "[data-testid=\\"trems\\"]": matches no element of this page.',
  ]);
  const repeated = await findProblems(document.pages[0]?.css ?? "", [], document);
  assert.deepEqual(repeated.lines, [], "an unaltered style sheet is not reported again");
});

test("accepts rules for states, for inserted elements, for other browsers, and everything that css allows", async () => {
  const insert: Change = {
    id: "c1",
    op: "insert",
    selector: "h1",
    position: "after",
    html: "<p class='note'>Free</p>",
  };
  const { lines } = await findProblems(
    `@charset "utf-8"; @layer base, theme;
    #pay:hover, #pay[hidden], #pay[aria-expanded="true"], #pay.is-open, #pay:not(:focus)::after { margin: 0 }
    html[data-theme="dark"] .shop, body.dark #pay, :root:has(#pay:checked) h1, [open] > p, :hover > h1 { margin: 0 }
    details:open summary, details[open]::details-content, ::selection, ::-webkit-scrollbar { color: red }
    .note { --pad: { a: b }; --x:; width: calc(var(--y) * 2); width: 100vw; width: 12quux; -moz-appearance: none }
    .note::before { content: "}; #x {"; background: url(data:image/png;base64,iVBORw0KGgo=); background-image: -moz-linear-gradient(red, blue) }
    @font-face { font-family: Shop; src: url(shop.woff2); size-adjust: 90% }
    @keyframes fade { from { opacity: 0 } 50% { opacity: .5 } }
    @property --angle { syntax: "<angle>"; inherits: false; initial-value: 0deg }
    @media print { @supports (display: grid) { @container (width > 1px) { .note { display: grid } } } }
    main { & h1 { margin: 0 } &.shop { margin: 0 } h1 & { margin: 0 } @media print { color: red } }
    :is(h1, h7):nth-child(1 of h1), h1\\:x, [title="}{,"] , p:is(:hover, .note) { margin: 0 } #pay { color: red`,
    [insert],
  );
  assert.deepEqual(lines, ['css, "h1 :is(main)": matches no element of this page.']);
});

test("examines the styles of changes and of their HTML, and animations", async () => {
  const { lines } = await findProblems(
    "@keyframes fade { from { opacty: 0 } 50% { opacity: high } to { opacity: 1 } } h1 { animation: fade 1s }",
    [
      {
        id: "c1",
        op: "insert",
        selector: "h1",
        position: "after",
        html: '<p style="colr: red; top: 0"><b style="widht: 1px">Free</b></p><style>.free { marginn: 0 } p { top: 0 }</style>',
      },
      { id: "c2", op: "setHtml", selector: "summary", html: "<i style='padding: 1'>More</i>" },
      {
        id: "c3",
        op: "setStyle",
        selector: "#late",
        late: true,
        style: { colr: "red !important", top: "0" },
      },
      { id: "c4", op: "setStyle", selector: "#pay", style: { color: "red !important", "--own": "x" } },
    ],
  );
  assert.deepEqual(lines, [
    'css: "opacty" is not a property that the browser knows.',
    'css: "high" is not a value of opacity.',
    'c1 insert, style of <p>: "colr" is not a property that the browser knows.',
    'c1 insert, style of <b>: "widht" is not a property that the browser knows.',
    'c1 insert, <style>, ".free": matches no element of this page.',
    'c1 insert, <style>, ".free": "marginn" is not a property that the browser knows.',
    'c2 setHtml, style of <i>: "1" is not a value of padding.',
    'c3 setStyle: "colr" is not a property that the browser knows.',
  ]);
});

test("examines style attributes of changes too, and shows a bounded number of problems", async () => {
  const { lines } = await findProblems("", [
    { id: "c1", op: "setAttribute", selector: "h1", name: "style", value: "colr: red; top: 0; left: 1" },
  ]);
  assert.deepEqual(lines, [
    'c1 setAttribute: "colr" is not a property that the browser knows.',
    'c1 setAttribute: "1" is not a value of left.',
  ]);
  const rules = Array.from({ length: 3_000 }, (_, index) => `.x${index}{yyyyyyyyy:1}`);
  const many = await findProblems(rules.join(""));
  assert.equal(many.lines.length, 16);
  assert.match(many.lines.at(-1) ?? "", /^and \d+ more$/);
});
