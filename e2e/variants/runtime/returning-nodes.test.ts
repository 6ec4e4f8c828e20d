import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import {
  openRuntimeBrowser,
  readBody,
  readReport,
  revert,
  scriptOf,
  waitForState,
} from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

const BODY = `<main><h1>Shop</h1><div class="panel"><p class="slide">one</p><p class="slide">two</p></div></main>`;

describe("nodes of a variant that come back with the page's HTML", () => {
  for (const [name, code] of Object.entries({
    "the HTML is saved and restored, as by htmx": `const main = document.querySelector("main"); const html = main.innerHTML; main.innerHTML = "<i>other</i>"; await frame(); main.innerHTML = html;`,
    "the body is replaced by a clone": `document.body.replaceWith(document.body.cloneNode(true));`,
    "a tab panel is taken out and put back": `const panel = document.querySelector(".panel"); panel.remove(); await frame(); document.querySelector("main").append(panel);`,
    "a tab panel is rendered from its saved HTML": `const panel = document.querySelector(".panel"); const html = panel.outerHTML; panel.outerHTML = "<b>Tab</b>"; await frame(); document.querySelector("b").outerHTML = html;`,
  }))
    test(`an insertion stands once for each place when ${name}`, async () => {
      const url = browser.serve("/returning", BODY);
      const script = scriptOf(url, [
        { op: "insert", selector: ".slide", position: "end", html: "<b>new</b>!" },
        { op: "insert", selector: ".slide", position: "before", html: "<hr>" },
        { op: "insert", selector: "h1", position: "after", html: "<p>first</p>" },
        { op: "insert", selector: "h1", position: "after", html: "<p>second</p>" },
      ]);
      const { page, problems, close } = await browser.open(url, [script]);
      await waitForState(page, "applied", "c4");
      const changed = await readBody(page);
      assert.equal((changed.match(/<b>new<\/b>!/g) ?? []).length, 2);
      for (const round of [1, 2, 3]) {
        await page.evaluate(
          `(async () => { const frame = () => new Promise(requestAnimationFrame); ${code} })()`,
        );
        await readReport(page);
        assert.equal(await readBody(page), changed, `round ${round}`);
      }
      await revert(page);
      assert.equal(await readBody(page), BODY);
      assert.deepEqual(problems, []);
      await close();
    });

  test("slides that an endless carousel clones have one insertion each, and none after reverting", async () => {
    const url = browser.serve("/carousel", BODY);
    const script = scriptOf(url, [{ op: "insert", selector: ".slide", position: "end", html: "<b>new</b>" }]);
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied");
    await page.evaluate(() => {
      const panel = document.querySelector(".panel") as HTMLElement;
      const [first, last] = panel.children;
      panel.prepend((last as Element).cloneNode(true));
      panel.append((first as Element).cloneNode(true));
    });
    await waitFor(async () => (await readReport(page)).changes[0]?.applied === 4, "the clones");
    const read = () =>
      page.evaluate(() => [...document.querySelectorAll(".slide")].map(({ innerHTML }) => innerHTML));
    assert.deepEqual(await read(), ["two<b>new</b>", "one<b>new</b>", "two<b>new</b>", "one<b>new</b>"]);
    await revert(page);
    assert.deepEqual(await read(), ["two", "one", "two", "one"]);
    await close();
  });

  test("a page's own element that looks like an inserted one is not taken for it", async () => {
    const url = browser.serve("/same", `<p>one</p><hr><p>two</p>`);
    const script = scriptOf(url, [{ op: "insert", selector: "p", position: "after", html: "<hr>" }]);
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied");
    assert.equal(await readBody(page), "<p>one</p><hr><hr><p>two</p><hr>");
    await revert(page);
    assert.equal(await readBody(page), "<p>one</p><hr><p>two</p>");
    await close();
  });
});

describe("changes of elements that come back with the page's HTML", () => {
  for (const [name, code] of Object.entries({
    "at once": `main.innerHTML = html;`,
    "later, as by htmx": `main.innerHTML = "<i>other</i>"; await frame(); main.innerHTML = html;`,
  }))
    test(`reverting restores the originals when the HTML is restored ${name}`, async () => {
      const url = browser.serve("/restored", BODY);
      const { page, problems, close } = await browser.open(url, [
        scriptOf(url, [
          { op: "setText", selector: "h1", text: "Till" },
          { op: "setText", selector: ".slide", text: "same" },
          { op: "setHtml", selector: ".panel", html: "<b>all</b>" },
          { op: "setAttribute", selector: "h1", name: "title", value: "new" },
          { op: "addClass", selector: ".panel", className: "wide" },
          { op: "addClass", selector: ".panel", className: "high" },
          { op: "setStyle", selector: "h1", style: { color: "green" } },
        ]),
      ]);
      await waitForState(page, "applied", "c7");
      const changed = await readBody(page);
      for (const round of [1, 2]) {
        await page.evaluate(
          `(async () => { const frame = () => new Promise(requestAnimationFrame); const main = document.querySelector("main"), html = main.innerHTML; ${code} })()`,
        );
        await readReport(page);
        assert.equal(await readBody(page), changed, `round ${round}`);
      }
      await revert(page);
      assert.equal(await readBody(page), BODY);
      assert.deepEqual(problems, []);
      await close();
    });

  test("each of several elements with the same new text gets its own original back", async () => {
    const url = browser.serve("/restored-list", "<ul><li>a</li><li>b</li><li>c</li></ul>");
    const { page, close } = await browser.open(url, [
      scriptOf(url, [{ op: "setText", selector: "li", text: "new" }]),
    ]);
    await waitForState(page, "applied");
    await page.evaluate(() => {
      const ul = document.querySelector("ul") as HTMLElement;
      const saved = ul.innerHTML;
      ul.innerHTML = saved;
    });
    await readReport(page);
    await revert(page);
    assert.equal(await readBody(page), "<ul><li>a</li><li>b</li><li>c</li></ul>");
    await close();
  });
});

const LIST = `<section></section><ul><li id="a">a</li><li id="b">b</li><li id="c">c</li></ul>`;
const MOVE = { op: "move", selector: "#b", position: "start", target: "section" } as const;

describe("a moved element", () => {
  for (const [name, code, expected] of [
    ["innerHTML", `ul.innerHTML = '<li id="b">new</li>'`, `<li id="b">new</li>`],
    ["replaceChildren", `ul.replaceChildren(make("b"))`, `<li id="b">new</li>`],
    ["replaceChildren with the element", `ul.replaceChildren(b)`, `<li id="b">b</li>`],
    ["textContent", `ul.textContent = ""`, ""],
    ["outerHTML", `ul.outerHTML = '<ul><li id="b">new</li></ul>'`, `<li id="b">new</li>`],
    ["a range", `const range = new Range(); range.selectNodeContents(ul); range.deleteContents();`, ""],
    ["its own remove()", `b.remove()`, `<li id="a">a</li><li id="c">c</li>`],
  ] as const)
    test(`is given up when the page replaces its place by ${name}`, async () => {
      const url = browser.serve("/given-up", LIST);
      const { page, problems, close } = await browser.open(url, [scriptOf(url, [MOVE])]);
      await waitForState(page, "applied");
      await page.evaluate(
        `{ const ul = document.querySelector("ul"), b = document.getElementById("b"); const make = (id) => Object.assign(document.createElement("li"), { id, textContent: "new" }); ${code} }`,
      );
      const { matches, applied } = (await readReport(page)).changes[0] ?? {};
      const left = expected.includes('id="b"') ? 1 : 0;
      assert.deepEqual([matches, applied], [left, left]);
      assert.equal(await page.evaluate(() => document.querySelectorAll("#b").length), left);
      await revert(page);
      assert.equal(await readBody(page), `<section></section><ul>${expected}</ul>`);
      assert.deepEqual(problems, []);
      await close();
    });

  for (const [name, code, order] of [
    ["before", `b.before(x, "!")`, "axbc"],
    ["after", `b.after(x, "!")`, "abxc"],
    ["replaceWith", `b.replaceWith(x)`, "axc"],
    ["append", `ul.append(x, b)`, "acxb"],
    ["moveBefore", `ul.append(x); ul.moveBefore(x, b)`, "axbc"],
    ["moveBefore of the element", `ul.append(x); ul.moveBefore(b, x)`, "acbx"],
    ["insertBefore", `ul.insertBefore(x, b)`, "axbc"],
    ["replaceChild", `ul.replaceChild(x, b)`, "axc"],
    ["insertAdjacentElement", `b.insertAdjacentElement("afterend", x)`, "abxc"],
    ["insertAdjacentHTML", `b.insertAdjacentHTML("beforebegin", x.outerHTML)`, "axbc"],
  ] as const)
    test(`keeps its place for the page's ${name}`, async () => {
      const url = browser.serve("/guarded", LIST);
      const { page, problems, close } = await browser.open(url, [scriptOf(url, [MOVE])]);
      await waitForState(page, "applied");
      await page.evaluate(
        `{ const ul = document.querySelector("ul"), b = document.getElementById("b"); const x = Object.assign(document.createElement("li"), { id: "x", textContent: "x" }); ${code} }`,
      );
      await readReport(page);
      const isThere = order.includes("b");
      assert.equal(
        await page.evaluate(() => document.querySelector("section")?.textContent),
        isThere ? "b" : "",
      );
      await revert(page);
      const read = () =>
        page.evaluate(() => [...document.querySelectorAll("li")].map(({ id }) => id).join(""));
      assert.equal(await read(), order);
      assert.doesNotMatch(await readBody(page), /<!--/);
      assert.equal(await page.evaluate(() => document.querySelector("section")?.childNodes.length), 0);
      assert.deepEqual(problems, []);
      await close();
    });

  for (const [name, code, order] of [
    ["removes and inserts it, as Angular does", `b.remove(); ul.appendChild(b)`, "acb"],
    [
      "removes its new place's content and inserts it",
      `b.parentNode.replaceChildren(); ul.insertBefore(b, ul.firstChild)`,
      "bac",
    ],
    ["moves the children by their siblings, as Solid does", `ul.insertBefore(x, b.nextSibling)`, "abxc"],
  ] as const)
    test(`inside one parent keeps its place when the page ${name}`, async () => {
      const url = browser.serve("/same-parent", LIST);
      const isList = code.includes("nextSibling");
      const move = isList ? { ...MOVE, position: "end", target: "ul" } : MOVE;
      const { page, problems, close } = await browser.open(url, [scriptOf(url, [move as typeof MOVE])]);
      await waitForState(page, "applied");
      await page.evaluate(
        `{ const ul = document.querySelector("ul"), b = document.getElementById("b"); const x = Object.assign(document.createElement("li"), { id: "x" }); ${code} }`,
      );
      await readReport(page);
      assert.equal(await page.evaluate(() => document.querySelectorAll("#b").length), 1);
      await revert(page);
      const read = () =>
        page.evaluate(() => [...document.querySelectorAll("ul > li")].map(({ id }) => id).join(""));
      assert.equal(await read(), order);
      assert.deepEqual(problems, []);
      await close();
    });

  for (const [name, position, code, order] of [
    ["replaceWith and after, as Alpine does", "start", "b.replaceWith(a); c.after(b)", "acb"],
    ["after", "start", "c.after(b)", "acb"],
    ["append", "start", "ul.append(b)", "acb"],
    ["prepend", "end", "ul.prepend(b)", "bac"],
    ["insertAdjacentElement", "end", `a.insertAdjacentElement("beforebegin", b)`, "bac"],
  ] as const)
    test(`inside one parent returns to where the page has put it by ${name}`, async () => {
      const url = browser.serve("/reordered", LIST);
      const script = scriptOf(url, [{ ...MOVE, position, target: "ul" }]);
      const { page, problems, close } = await browser.open(url, [script]);
      const readOrder = () =>
        page.evaluate(() => [...document.querySelectorAll("li")].map(({ id }) => id).join(""));
      const changed = position === "start" ? "bac" : "acb";
      await waitForState(page, "applied");
      assert.equal(await readOrder(), changed);
      await page.evaluate(
        `{ const [a, b, c] = ["a", "b", "c"].map((id) => document.getElementById(id)); const ul = a.parentNode; ${code} }`,
      );
      await readReport(page);
      assert.equal(await readOrder(), changed);
      // What the page adds before the element does not change the element's own place.
      await page.evaluate(() => document.querySelector("ul")?.prepend(document.createElement("li")));
      await readReport(page);
      assert.equal(await readOrder(), changed);
      await revert(page);
      assert.equal(await readOrder(), order);
      assert.deepEqual(problems, []);
      await close();
    });
});
