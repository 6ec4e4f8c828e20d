import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { callOf, startSite, startTestBrowser, type TestBrowser, textOf } from "../test-fixture.ts";
import { findMissing } from "./accessibility-testing.ts";
import { domQuery } from "./dom-query.ts";
import { createSnapshotBook } from "./snapshot-book.ts";

/** What component libraries render, reduced to what matters for a snapshot. */
const PAGES = {
  "/editors": `<title>Editors</title>
    <div contenteditable role=textbox aria-label=Subject><p>News of April</p></div>
    <div contenteditable role=textbox aria-label=Body><h2>Hello</h2>
      <p>The shop opens <b>today</b>. <a href="https://shop.example/visit">Come in</a></p><ul><li>Bread<li>Cheese</ul></div>
    <div class=cm-content contenteditable role=textbox aria-multiline=true aria-label=Code><div class=cm-line>let a = 1;</div><div class=cm-line>a += 2;</div></div>
    <div contenteditable role=textbox aria-label=Lead><p>Meet <strong><em>Ada</em></strong> at <u>noon</u>, x <sub>2</sub>, <code>npm</code>, <span style="font-weight:bold">now</span> <strong style="font-weight:normal">plain</strong></p></div>
    <div contenteditable role=textbox aria-label=Note><p data-placeholder="Write a note"><br></p></div>
    <div tabindex=0 role=textbox aria-label=Query></div><textarea aria-hidden=true tabindex=-1></textarea>
    <div aria-hidden=true><div>select 1;</div><canvas width=20 height=20></canvas></div>`,
  "/chosen": `<title>Chosen</title>
    <label id=plan>Plan</label>
    <div role=combobox tabindex=0 aria-haspopup=listbox aria-expanded=false aria-labelledby=plan>Basic</div>
    <input aria-hidden=true tabindex=-1 value=basic style="opacity:0;position:absolute;pointer-events:none">
    <button role=combobox aria-label=Fruit aria-expanded=false><span>Apple</span><span aria-hidden=true>▼</span></button>
    <select aria-hidden=true tabindex=-1 style="position:absolute;width:1px;height:1px"><option>Apple<option>Pear</select>
    <button role=combobox aria-label=Colour data-placeholder><span>Select a colour</span></button>
    <div class=select style="cursor:pointer"><div class=content title=Reader>Reader<input role=combobox aria-label=Role readonly value="" style="opacity:0;width:20px"></div><span role=img aria-label=down>v</span></div>
    <div><div class=content><div class=placeholder>Any team</div><input role=combobox aria-label=Team value=""></div></div>
    <div role=combobox aria-label=City><input aria-label="City name" value=Ghent></div>
    <select multiple aria-label=Sizes><option selected>S<option>M<option selected>L</select>
    <select multiple size=14 aria-label=Days>${Array.from({ length: 14 }, (_, day) => `<option selected>${day + 1}`).join("")}</select>`,
  "/date": `<title>Date</title>
    <div role=group aria-label="First day">
      <div style="opacity:0"><span role=spinbutton contenteditable tabindex=0 aria-label=Month aria-valuemin=1 aria-valuemax=12 aria-valuetext=Empty>MM</span>/<span role=spinbutton contenteditable tabindex=-1 aria-label=Year aria-valuetext=Empty>YYYY</span></div>
      <button aria-label="Choose date"></button>
      <input aria-hidden=true tabindex=-1 value="" style="opacity:0">
    </div>
    <div role=group aria-label="Last day"><span role=spinbutton contenteditable tabindex=0 aria-label=Day aria-valuenow=4 aria-valuetext=4>4</span>.<span role=spinbutton contenteditable tabindex=0 aria-label=Month aria-valuenow=5 aria-valuetext=May>05</span></div>
    <div style="opacity:0"><p>Faded words</p><button>Faded button</button><input aria-label=Trap aria-hidden=true tabindex=-1></div>
    <div style="opacity:0;pointer-events:none"><input aria-label="Closed menu"></div>`,
  "/icons": `<title>Icons</title><style>.yes::before{content:"✓"}.no::before{content:"✗"}.pro::before{content:"\\e001"}</style>
    <ul><li><svg width=16 height=16 class="w-4 text-green-500"><path d="M1 5 5 9"/></svg>Reports
      <li><svg width=16 height=16 class="w-4 text-red-500"><path d="M1 1 9 9"/></svg>Sign-on
      <li><i class="fa-solid fa-xmark fa-fw" style="display:inline-block;width:16px;height:16px"></i> Backups
      <li><svg width=16 height=16><path d="M1 2"/></svg> One <li><svg width=16 height=16><path d="M3 4"/></svg> Two <li><svg width=16 height=16><path d="M1 2"/></svg> Three
      <li><svg width=16 height=16 class=text-green-500><path d="M9 16.17L4.83 12l-1.42 1.41L9 19 21 7l-1.41-1.41z"/></svg> Drawn
      <li><svg width=16 height=16><path d="m6 18 12-12"/><path d="M6 6l12 12"/></svg> Crossed
      <li><svg width=16 height=16><path d="M6 18 18 6M6 6l12 12"/></svg> Refused
      <li class=yes>Mail<li class=no>Phone<li class=pro>Chat</ul>
    <table><tr><td>API<td><img src="/img/check.svg" alt="" width=16 height=16><td><svg width=16 height=16 data-testid=CloseIcon></svg></table>
    <p><svg width=16 height=16 data-icon=truck></svg> Free delivery <svg width=16 height=16></svg></p>
    <button><svg width=16 height=16 data-icon=save></svg>Save</button><img src="/photo.jpg" alt="" width=200 height=100>`,
  "/nameless": `<title>Nameless</title>
    <button data-testid=save-order></button><button class="w-4 css-1x2y3z cart-toggle"></button><button id=menu></button>
    <input name=coupon><div role=switch tabindex=0 class=theme-switch aria-checked=true></div><button class="p-2 flex"></button>`,
  "/grid": `<title>Grid</title>
    <div role=grid aria-label=Orders aria-rowcount=5001 aria-colcount=3 tabindex=0 style="height:90px;width:200px;overflow:auto;scrollbar-width:none"><div style="width:600px;height:400px">
      <div role=row aria-rowindex=1><div role=columnheader aria-colindex=1 aria-sort=descending tabindex=-1>Order</div><div role=columnheader aria-colindex=2 aria-sort=none tabindex=0 style="cursor:pointer">Total</div></div>
      <div role=rowgroup><div role=row aria-rowindex=3 tabindex=-1 aria-selected=true><div role=gridcell aria-colindex=1>B</div></div><div role=row aria-rowindex=2 tabindex=0 aria-selected=false><div role=gridcell aria-colindex=1 tabindex=-1>A</div></div></div>
      <div role=rowgroup><div role=row aria-rowindex=2 tabindex=0><div role=gridcell aria-colindex=2 tabindex=0>7</div><div role=gridcell aria-colindex=3><span style="cursor:pointer"><input type=checkbox aria-label=Paid></span></div></div><div role=row aria-rowindex=3><div role=gridcell aria-colindex=2>9</div></div></div>
      <div tabindex=0 class=guard style="width:0;height:0"></div>    </div></div>
    <table role=grid aria-label=June><tr><th role=columnheader>Mo<th role=columnheader>Tu<tr><td role=gridcell data-date=2031-06-02 aria-selected=true>2<td role=gridcell data-date=2031-06-03 aria-current=date>3</table>
    <table aria-label=Plain><tr tabindex=0><td>one<td>two</table>`,
  "/wide": `<title>Wide</title><body style="margin:0"><div aria-label=Days role=region style="width:300px;overflow-x:auto"><div style="width:900px">Monday</div></div>
    <div style="width:300px;height:50px;overflow:auto;scrollbar-width:none"><div style="width:900px;height:500px">Map</div></div><div style="width:2000px">Wide words</div>`,
  "/links": `<title>Links</title><a href="/terms">Our terms</a><br><a href="/p/8123">Blue shoe</a><br><a href="/shoes?page=2">Shoes</a><br>
    <a href="https://other.example/help">Help</a><br><a href="mailto:a@b.example">Write to us</a><br><a href="mailto:c@d.example">c@d.example</a><br><a href="javascript:go()">Go</a><br><a href="#end">End</a>`,
  "/inert": `<title>Inert</title><div inert><button>Old</button><p>Old words</p></div><button>Free</button>
    <dialog aria-label=Confirm><button>Yes</button></dialog>`,
  "/covered": `<title>Covered</title><main><button>Save</button><p style="margin-top:2000px"></p><button>Below</button></main>
    <div id=portal hidden><div style="position:fixed;inset:0;background:#0008"></div><div role=dialog aria-modal=true aria-label=Filter style="position:fixed;top:100px;left:100px;background:#fff"><button>Apply</button></div></div>
    <div style="position:fixed;top:0;right:0;z-index:9"><button>Undo</button></div>`,
  "/unrendered": `<title>Unrendered</title><h1>Shown</h1><p hidden=until-found>Found words</p><section style="content-visibility:hidden"><p>Skipped words</p><button>Skipped button</button></section>
    <button><span style="content-visibility:hidden;display:block">Secret</span>Open</button>
    <div style="content-visibility:auto;contain-intrinsic-size:auto 50px"><p>Lazy words</p></div>`,
  "/elements": `<title>Elements</title><x-switch id=one></x-switch><x-switch id=two></x-switch><x-plain>Plain words</x-plain>
    <span id=name>Dark mode</span><button id=labelled>x</button><x-host></x-host>
    <script>
      class Switch extends HTMLElement {
        constructor() { super(); const internals = this.attachInternals(); internals.role = "switch"; internals.ariaLabel = "Setting " + this.id; internals.ariaChecked = String(this.id === "one"); this.tabIndex = 0; this.style.cssText = "display:inline-block;width:40px;height:20px"; }
      }
      customElements.define("x-switch", Switch);
      customElements.define("x-plain", class extends HTMLElement {});
      document.querySelector("#labelled").ariaLabelledByElements = [document.querySelector("#name")];
      const root = document.querySelector("x-host").attachShadow({ mode: "open" });
      root.innerHTML = "<input>";
      root.querySelector("input").ariaLabelledByElements = [document.querySelector("#name")];
    </script>`,
  "/many": `<title>Many</title><ul>${Array.from({ length: 201 }, (_, index) => `<li><svg width=16 height=16><path d="M${index} 0"/></svg> ${index}`).join("")}</ul>
    ${Array.from({ length: 101 }, (_, index) => `<x-button aria-label="B${index}"></x-button>`).join("")}
    <script>customElements.define("x-button", class extends HTMLElement {
      constructor() { super(); this.attachInternals().role = "button"; this.style.cssText = "display:block;width:40px;height:20px"; }
    });</script>`,
  "/slow": `<title>Slow</title><p>Frame</p><script>fetch("/never"); fetch("/never")</script>`,
};

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;

before(async () => {
  site = await startSite(PAGES);
  browser = await startTestBrowser();
});
after(async () => {
  await Promise.all([browser?.close(), site?.close()]);
});

const snapshots = createSnapshotBook();
const ask = async (input: object = {}) =>
  textOf(await domQuery({ browser: browser.service, snapshots }).execute(input, callOf()));
const bodyOf = (text: string) => (/<(data-\w+)>\n(.*)\n<\/\1>/s.exec(text)?.[2] ?? "").split("\n");

/** The lines of a snapshot of the current page, with equal refs. */
const look = async () => {
  const [, ...lines] = bodyOf(await ask());
  return lines.map((line) => line.replace(/\[(f\d+)?e\d+\]/g, "[e]"));
};
const linesOf = async (path: string) => {
  await browser.live.page().goto(site.url + path);
  return look();
};

test("an editor has its text, and one with several blocks has lines", async () => {
  assert.deepEqual(await linesOf("/editors"), [
    'textbox "Subject" [e] contenteditable value "News of April"',
    'textbox "Body" [e] contenteditable',
    '  heading 2 "Hello"',
    '  "The shop opens" bold "today" "." link "Come in" [e] to "shop.example/visit"',
    "  list",
    '    • "Bread"',
    '    • "Cheese"',
    'textbox "Code" [e] contenteditable',
    '  "let a = 1;"',
    '  "a += 2;"',
    'textbox "Lead" [e] contenteditable',
    '  "Meet" bold italic "Ada" "at" underlined "noon" ", x" subscript "2" "," code "npm" "," bold "now" "plain"',
    'textbox "Note" [e] contenteditable placeholder "Write a note"',
    'textbox "Query" [e]',
    '"select 1;"',
  ]);
});

test("a list has its chosen value, whichever library draws it", async () => {
  assert.deepEqual(await linesOf("/chosen"), [
    '"Plan"',
    'combobox "Plan" [e] collapsed opens a popup value "Basic"',
    'combobox "Fruit" [e] collapsed value "Apple" combobox "Colour" [e] placeholder "Select a colour"',
    'combobox "Role" [e] readonly value "Reader"',
    'img "down"',
    'combobox "Team" [e] placeholder "Any team"',
    'combobox "City" [e]',
    '  textbox "City name" [e] value "Ghent"',
    'listbox "Sizes" [e] value "S", "L" options "S", "M", "L"',
    `listbox "Days" [e] value ${list(10)} and 4 more options ${list(12)} and 2 more`,
  ]);
});
const list = (count: number) => Array.from({ length: count }, (_, index) => `"${index + 1}"`).join(", ");

test("a date field has its sections although they are transparent; other transparent content is left out", async () => {
  assert.deepEqual(await linesOf("/date"), [
    'group "First day"',
    '  spinbutton "Month" [e] value "Empty" (1 to 12) shows "MM" spinbutton "Year" [e] value "Empty" shows "YYYY"',
    '  button "Choose date" [e]',
    'group "Last day"',
    '  spinbutton "Day" [e] value "4" "." spinbutton "Month" [e] value "May" shows "05"',
  ]);
});

test("icons that mean something are named, by their class or shape in the last resort", async () => {
  assert.deepEqual(await linesOf("/icons"), [
    "list",
    '  • icon "text-green-500" "Reports"',
    '  • icon "text-red-500" "Sign-on"',
    '  • icon "xmark" "Backups"',
    '  • icon shape 1 "One"',
    '  • icon shape 2 "Two"',
    '  • icon shape 1 "Three"',
    '  • icon "check" "Drawn"',
    '  • icon shape 3 "Crossed"',
    '  • icon "close" "Refused"',
    '  • "✓ Mail"',
    '  • "✗ Phone"',
    '  • icon "pro" "Chat"',
    "table",
    '  | "API" | icon "check" | icon "Close"',
    'icon "truck" "Free delivery"',
    'button "Save" [e]',
  ]);
});

test("a control without a name has its test id, field name, class or id", async () => {
  assert.deepEqual(await linesOf("/nameless"), [
    'button test id "save-order" [e] button class "cart-toggle" [e] button id "menu" [e] textbox field "coupon" [e]',
    'switch class "theme-switch" [e] checked',
    "button [e]",
  ]);
});

test("a grid is written as a grid: counts, sorting, one line a row in the order of rows", async () => {
  assert.deepEqual(await linesOf("/grid"), [
    'grid 5001 rows, 3 columns, 3 shown "Orders" [e] shows 0 to 90 of 400 px shows 0 to 200 of 600 px across',
    '  columns | "Order" [e] sorted descending | "Total" [e] not sorted',
    '  row [e] | "A" | "7" | checkbox "Paid" [e]',
    '  row [e] selected | "B" | "9"',
    'grid "June"',
    '  columns | "Mo" | "Tu"',
    '  | date 2031-06-02 selected "2" | date 2031-06-03 current date "3"',
    'table "Plain"',
    '  row [e] | "one" | "two"',
  ]);
});

test("content to the side is announced, of elements and of the page", async () => {
  const [head, ...lines] = bodyOf(await openAndAsk("/wide"));
  assert.match(head ?? "", /\(viewport 1280×720, scrolled 0 of 720 px across\)$/);
  assert.deepEqual(
    lines.map((line) => line.replace(/\[e\d+\]/, "[e]")),
    [
      'region "Days" [e] shows 0 to 300 of 900 px across',
      '  "Monday"',
      "scrollable [e] shows 0 to 50 of 500 px shows 0 to 300 of 900 px across",
      '  "Map"',
      '"Wide words"',
    ],
  );
});
async function openAndAsk(path: string): Promise<string> {
  await browser.live.page().goto(site.url + path);
  return ask();
}

test("a link says where it leads, unless its name says so", async () => {
  assert.deepEqual(await linesOf("/links"), [
    'link "Our terms" [e]',
    'link "Blue shoe" [e] to "/p/8123"',
    'link "Shoes" [e] to "/shoes?page=2"',
    'link "Help" [e] to "other.example/help"',
    'link "Write to us" [e] to "mailto:a@b.example"',
    'link "c@d.example" [e]',
    'link "Go" [e]',
    'link "End" [e] to "#end"',
  ]);
  assert.match((await ask({ attributes: ["href"] })).replace(/\[e\d+\]/g, ""), /"Blue shoe" {2}href "http/);
});

test("controls under inert, and all behind an open modal dialog, are marked; the difference has only the dialog", async () => {
  assert.deepEqual(await linesOf("/inert"), ['button "Old" [e] inert', '"Old words"', 'button "Free" [e]']);
  const since = /Snapshot (s\w+)/.exec(await ask())?.[1];
  await browser.live.page().evaluate("document.querySelector('dialog').showModal()");
  assert.deepEqual(await look(), [
    'button "Old" [e] inert',
    '"Old words"',
    'button "Free" [e] inert',
    'dialog "Confirm"',
    '  button "Yes" [e] focused',
  ]);
  assert.deepEqual(
    bodyOf(await ask({ since })).map((line) => line.replace(/\[e\d+\]/, "[e]")),
    ['after button "Free" [e]', '+ dialog "Confirm"', '+ button "Yes" [e] focused', "focus on [e]"],
  );
});

test("controls behind a dialog that a library draws are marked, and those in front of it are not", async () => {
  assert.deepEqual(await linesOf("/covered"), [
    "main",
    '  button "Save" [e]',
    '  button "Below" [e]',
    'button "Undo" [e]',
  ]);
  await browser.live.page().evaluate("document.querySelector('#portal').hidden = false");
  assert.deepEqual(await look(), [
    "main",
    '  button "Save" [e] behind dialog',
    '  button "Below" [e] behind dialog',
    'dialog "Filter"',
    '  button "Apply" [e]',
    'button "Undo" [e]',
  ]);
});

test("content that the browser does not render is not listed, nor part of a name", async () => {
  assert.deepEqual(await linesOf("/unrendered"), ['heading 1 "Shown"', 'button "Open" [e]', '"Lazy words"']);
  assert.match(await ask({ text: "Found words" }), /^No visible element matches/);
  assert.match(await ask({ selector: "[hidden]" }), /^No visible element matches/);
});

test("roles and names of ElementInternals, and of elements without ids, are those of the accessibility tree", async () => {
  assert.deepEqual(await linesOf("/elements"), [
    'switch "Setting one" [e] checked switch "Setting two" [e] "Plain words Dark mode" button "Dark mode" [e] textbox "Dark mode" [e]',
  ]);
  assert.match(await ask({ role: "switch", text: "setting two" }), /^1 element matches/);
});

test("only so many shapes of icons and custom elements are told apart", async () => {
  const lines = await linesOf("/many");
  assert.deepEqual(lines.slice(200, 202), ['  • icon shape 200 "199"', '  • "200"']);
  assert.deepEqual(
    lines.slice(202).map((line) => line.split(" [")[0]),
    Array.from({ length: 100 }, (_, index) => `button "B${index}"`),
  );
});

test("requests that may fill the page are counted", async () => {
  const page = browser.live.page();
  // No route answers the requests, so they stay open until the page is left.
  await page.route("**/never", () => {});
  const requested = page.waitForRequest("**/never");
  await page.goto(`${site.url}/slow`);
  await requested;
  assert.match(await ask(), /\(viewport 1280×720, still loading: 2 requests\)/);
  await page.goto("about:blank");
  await page.unroute("**/never");
});

test("no node of the accessibility tree is missing without a reason", async () => {
  for (const path of Object.keys(PAGES).filter((each) => !["/slow", "/many"].includes(each))) {
    const lines = await linesOf(path);
    const missing = await findMissing(browser.live.page(), lines);
    assert.deepEqual(
      missing.filter(({ reason }) => reason === null),
      [],
      path,
    );
  }
});
