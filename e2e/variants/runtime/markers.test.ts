import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { openRuntimeBrowser, readBody, revert, scriptOf, waitForState } from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

/**
 * Texts with comments as frameworks render them. `render` finds each text by its comment, as Qwik does when a page is
 * resumed, and `keep` holds the texts, as React, Vue, Lit and Solid do after hydration.
 */
const BODY = `<p id="qwik">Count: <!--t=1-->1<!----></p><p id="only"><!--t=2-->1<!----></p>
<p id="mixed">Hello <b>you</b>, <!--t=3-->1<!----> times</p><p id="react">Pay <!-- -->1</p><p id="lit">
 <!--?lit$42$-->1<!--/lit--> items</p><p id="solid">Total <!--$-->1<!--/--></p>`;
const SCRIPT = `<script>
const list = () => { const found = []; const comments = document.createTreeWalker(document.body, NodeFilter.SHOW_COMMENT);
  while (comments.nextNode()) if (comments.currentNode.nextSibling instanceof Text && /^[^/]/.test(comments.currentNode.data)) found.push(comments.currentNode);
  return found; };
const kept = list().map((comment) => comment.nextSibling);
window.render = (value) => {
  for (const id of [1, 2, 3]) list().find(({ data }) => data === "t=" + id).nextSibling.data = value;
  for (const text of kept) text.data = value;
};</script>`;
const withValue = (value: string) =>
  BODY.replaceAll("1<!--", `${value}<!--`).replace("-->1</p>", `-->${value}</p>`);
const IDS = ["qwik", "only", "mixed", "react", "lit", "solid"];

describe("comments and texts of frameworks", () => {
  for (const [name, edit, shown] of [
    ["setText", { op: "setText", text: "New" }, "New"],
    ["setText with an empty text", { op: "setText", text: "" }, ""],
    ["setHtml", { op: "setHtml", html: "<i>N</i>ew" }, "New"],
  ] as const)
    test(`${name} leaves them in the element; the page's new texts appear after it is reverted`, async () => {
      const url = browser.serve("/markers", BODY + SCRIPT);
      const { page, problems, close } = await browser.open(url);
      await page.evaluate(
        scriptOf(
          url,
          IDS.map((id) => ({ ...edit, selector: `#${id}` })),
        ),
      );
      for (const index of IDS.keys()) await waitForState(page, "applied", `c${index + 1}`);
      const read = () =>
        page.evaluate((ids) => ids.map((id) => document.getElementById(id)?.textContent ?? null), IDS);
      const all = IDS.map(() => shown);
      assert.deepEqual(await read(), all);
      for (const value of ["2", "3"]) {
        await page.evaluate((text) => Reflect.get(window, "render")(text), value);
        assert.deepEqual(await read(), all, value);
      }
      await revert(page);
      const body = (await readBody(page)).replace(/<script.*/s, "");
      assert.equal(body, withValue("3"));
      assert.deepEqual(problems, []);
      await close();
    });

  test("a text follows the page when it adds elements between texts, and when it renders all content again", async () => {
    const url = browser.serve("/markers-again", `<p>Hello <!--a-->you<!--b--></p>`);
    const { page, problems, close } = await browser.open(url);
    await page.evaluate(scriptOf(url, [{ op: "setText", selector: "p", text: "New" }]));
    const change = (code: string) => page.evaluate(`{ const p = document.querySelector("p"); ${code} }`);
    const readText = () => page.evaluate(() => document.querySelector("p")?.textContent);
    for (const code of [
      `window.b = document.createElement("b"); b.append("!"); p.insertBefore(b, p.childNodes[2]);`,
      `p.firstChild.data = "Bye ";`,
      `p.textContent = "again";`,
      `p.innerHTML = "<!--c-->once <u>more</u>";`,
    ]) {
      await change(code);
      assert.equal(await readText(), "New", code);
    }
    await revert(page);
    assert.equal(await readBody(page), "<p><!--c-->once <u>more</u></p>");
    assert.deepEqual(problems, []);
    await close();
  });
});
