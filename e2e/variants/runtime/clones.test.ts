import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  openRuntimeBrowser,
  readBody,
  readReport,
  revert,
  scriptOf,
  waitForState,
} from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

const BODY = `<main><ul><li class="slide"><h2>one</h2></li><li class="slide"><h2>two</h2></li></ul><aside><i id="x">x</i></aside><section></section></main><div id="other"></div>`;

/** Every kind of change. The first element that matches is changed, so that most copies match no selector. */
const CHANGES = [
  { op: "setText", selector: "li:first-child h2", text: "new" },
  { op: "setHtml", selector: "main li:nth-child(2) h2", html: "<b>new</b>" },
  { op: "setAttribute", selector: "main ul", name: "title", value: "new" },
  { op: "addClass", selector: "main li:first-child", className: "wide" },
  { op: "setStyle", selector: "main ul", style: { color: "green" } },
  { op: "insert", selector: "main li:first-child", position: "before", html: "<hr>" },
  { op: "insert", selector: "main li:first-child", position: "end", html: "<i>new</i>!" },
  { op: "move", selector: "main #x", position: "end", target: "main section" },
] as const;

/** How the page copies a part of itself. */
const WAYS = {
  "an endless carousel clones its first and last slide":
    "const ul = one('ul'), [first, last] = one('ul').querySelectorAll('li'); ul.prepend(last.cloneNode(true)); ul.append(first.cloneNode(true));",
  "a carousel clones its slides and marks the clones":
    "for (const li of [...one('ul').children]) { const clone = li.cloneNode(true); clone.classList.add('clone'); other.append(clone); }",
  "a tab panel clones the page's content": "other.append(one('main').cloneNode(true));",
  "a panel imports the nodes": "other.append(document.importNode(one('main'), true));",
  "a clone is cloned":
    "other.append(one('main').cloneNode(true)); other.append(other.firstChild.cloneNode(true));",
  "the body is replaced by a clone": "document.body.replaceWith(document.body.cloneNode(true));",
  "a clone outlives its source":
    "const main = one('main'); main.before(main.cloneNode(true)); await frame(); main.remove();",
  "a slide is cloned as a template for another":
    "const clone = one('li').cloneNode(true); clone.querySelector('h2').textContent = 'three'; one('ul').append(clone);",
};

describe("clones of changed elements", () => {
  for (const [name, code] of Object.entries(WAYS))
    test(`are as without the variant after reverting when ${name}`, async () => {
      const run = `(async () => {
        const one = (selector) => document.querySelector(selector);
        const other = one("#other");
        const frame = () => new Promise(requestAnimationFrame);
        ${code}
      })()`;
      const url = browser.serve("/clones", BODY);
      const plain = await browser.open(url);
      await plain.page.evaluate(run);
      const expected = await readBody(plain.page);
      await plain.close();
      const { page, problems, close } = await browser.open(url, [scriptOf(url, [...CHANGES])]);
      await waitForState(page, "applied", "c8");
      await page.evaluate(run);
      await readReport(page);
      await revert(page);
      assert.equal(await readBody(page), expected);
      assert.deepEqual(problems, []);
      await close();
    });
});
