import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "#lib/variant/document.ts";
import { openRuntimeBrowser, readReport, revert, scriptOf } from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

const BODY = `<header id="top"  class="a  b" style="color:red"><b>Shop</b> now</header>
<ul><li>One</li><li>Two</li><li>Three</li></ul>
<form><label for="mail">Mail</label><input id="mail" name="mail" required><button id="pay" type="button">Pay</button></form>
<svg viewBox="0 0 9 9"><circle r="2"/></svg>`;

/**
 * A change for each operation. `read` is an expression, and `shows` is the value of the expression after the change was
 * applied.
 */
const OPERATIONS: {
  change: Change extends infer Each ? (Each extends unknown ? Omit<Each, "id"> : never) : never;
  read: string;
  shows: unknown;
}[] = [
  {
    change: { op: "setText", selector: "#pay", text: "Pay <now>" },
    read: "document.querySelector('#pay').innerHTML",
    shows: "Pay &lt;now&gt;",
  },
  {
    change: { op: "setText", selector: "#top", text: "Store" },
    read: "document.querySelector('#top').innerHTML",
    shows: "Store",
  },
  {
    change: { op: "setText", selector: "#mail", text: "" },
    read: "document.querySelector('#mail').innerHTML",
    shows: "",
  },
  {
    change: { op: "setHtml", selector: "#top", html: "<i>A</i> &amp; <i>B</i>" },
    read: "document.querySelector('#top').innerHTML",
    shows: "<i>A</i> &amp; <i>B</i>",
  },
  {
    change: { op: "setHtml", selector: "ul", html: "<li>Only</li>" },
    read: "[...document.querySelectorAll('li')].map(e=>e.textContent).join()",
    shows: "Only",
  },
  {
    change: { op: "setAttribute", selector: "li", name: "title", value: "t" },
    read: "document.querySelectorAll('li[title=t]').length",
    shows: 3,
  },
  {
    change: { op: "setAttribute", selector: "#top", name: "class", value: "c" },
    read: "document.querySelector('#top').className",
    shows: "c",
  },
  {
    change: { op: "removeAttribute", selector: "#top", name: "style" },
    read: "document.querySelector('#top').hasAttribute('style')",
    shows: false,
  },
  {
    change: { op: "addClass", selector: "#top", className: "on" },
    read: "document.querySelector('#top').className",
    shows: "a b on",
  },
  {
    change: { op: "addClass", selector: "#pay", className: "on" },
    read: "document.querySelector('#pay').className",
    shows: "on",
  },
  {
    change: { op: "removeClass", selector: ".a", className: "a" },
    read: "document.querySelector('#top').className",
    shows: "b",
  },
  {
    change: {
      op: "setStyle",
      selector: "#top",
      style: { color: "blue !important", margin: "1px", "--gap": "2px" },
    },
    read: "document.querySelector('#top').getAttribute('style')",
    shows: "color: blue !important; margin: 1px; --gap: 2px;",
  },
  {
    change: { op: "setStyle", selector: "circle", style: { fill: "red" } },
    read: "getComputedStyle(document.querySelector('circle')).fill",
    shows: "rgb(255, 0, 0)",
  },
  ...(["before", "start", "end", "after"] as const).map((position) => ({
    change: { op: "insert" as const, selector: "ul", position, html: "<li>New</li>tail" },
    read: "document.querySelector('ul').previousSibling.data + '|' + document.querySelector('ul').innerHTML + '|' + document.querySelector('ul').nextSibling.textContent",
    shows: {
      before: "tail|<li>One</li><li>Two</li><li>Three</li>|\n",
      start: "\n|<li>New</li>tail<li>One</li><li>Two</li><li>Three</li>|\n",
      end: "\n|<li>One</li><li>Two</li><li>Three</li><li>New</li>tail|\n",
      after: "\n|<li>One</li><li>Two</li><li>Three</li>|New",
    }[position],
  })),
  {
    change: { op: "insert", selector: "li", position: "after", html: "<li>New</li>" },
    read: "[...document.querySelectorAll('li')].map(e=>e.textContent).join()",
    shows: "One,New,Two,New,Three,New",
  },
  {
    change: { op: "move", selector: "#pay", position: "before", target: "ul" },
    read: "document.querySelector('ul').previousSibling.id",
    shows: "pay",
  },
  {
    change: { op: "move", selector: "li:first-child", position: "end", target: "ul" },
    read: "document.querySelector('ul').innerText.replace(/\\s+/g, ' ')",
    shows: "Two Three One",
  },
  {
    change: { op: "remove", selector: "#mail" },
    read: "document.querySelector('form').reportValidity() && new FormData(document.querySelector('form')).has('mail') === false && document.querySelector('#mail').checkVisibility() === false",
    shows: true,
  },
  { change: { op: "remove", selector: "li" }, read: "document.querySelector('ul').innerText", shows: "" },
];

describe("operations on a plain page", () => {
  test("each is applied, and reverted to the same nodes with the same HTML", async () => {
    const url = browser.serve("/operations", BODY);
    const { page, problems, close } = await browser.open(url);
    const untouched = await page.evaluate(() => {
      const nodes: Node[] = [];
      const walker = document.createTreeWalker(document.body);
      while (walker.nextNode()) nodes.push(walker.currentNode);
      Object.assign(window, { listNodes: nodes });
      return document.body.innerHTML;
    });
    for (const { change, read, shows } of OPERATIONS) {
      await page.evaluate(scriptOf(url, [change]));
      const report = await readReport(page);
      assert.equal(report.changes[0]?.state, "applied", JSON.stringify([change, report]));
      assert.deepEqual(await page.evaluate(read), shows, JSON.stringify(change));
      await revert(page);
      assert.equal(await page.evaluate(() => document.body.innerHTML), untouched, JSON.stringify(change));
      const isSame = await page.evaluate(() => {
        const nodes: unknown = Reflect.get(window, "listNodes");
        const walker = document.createTreeWalker(document.body);
        return (
          Array.isArray(nodes) && nodes.every((node) => walker.nextNode() === node) && !walker.nextNode()
        );
      });
      assert.ok(isSame, `other nodes: ${JSON.stringify(change)}`);
    }
    assert.deepEqual(problems, []);
    await close();
  });
});
