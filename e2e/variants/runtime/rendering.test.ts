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

describe("a page that renders over changes", () => {
  test("changes apply before the first paint, and at once when their element appears late", async () => {
    const url = browser.serve("/late", "<h1>Shop</h1><main></main>");
    const script = scriptOf(url, [
      { op: "setText", selector: "h1", text: "Store" },
      { op: "setText", selector: ".late", text: "Late" },
    ]);
    const { page, problems, close } = await browser.open(url, [script]);
    assert.equal((await readReport(page)).changes[0]?.state, "applied");
    assert.equal((await readReport(page)).changes[1]?.state, "waiting");
    const shown = await page.evaluate(async () => {
      const texts: (string | null)[] = [];
      for (const count of [1, 2]) {
        const late = document.createElement("p");
        late.className = "late";
        late.textContent = `original ${count}`;
        document.querySelector("main")?.append(late);
        // When the callback of the second frame runs, the first frame has been painted.
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        texts.push(late.textContent);
      }
      return texts;
    });
    await waitFor(async () => (await readReport(page)).changes[1]?.applied === 2, "both late elements");
    assert.deepEqual(shown, ["Late", "Late"]);
    await revert(page);
    assert.equal(
      await readBody(page),
      '<h1>Shop</h1><main><p class="late">original 1</p><p class="late">original 2</p></main>',
    );
    assert.deepEqual(problems, []);
    await close();
  });

  test("a slow round does not delay the change of the next late element", async () => {
    const url = browser.serve("/slow-round", "<main></main>");
    const script = scriptOf(url, [{ op: "setText", selector: ".late", text: "Late" }]);
    const { page, problems, close } = await browser.open(url, [script]);
    const shown = await page.evaluate(async () => {
      const search = Document.prototype.querySelectorAll;
      const texts: (string | null)[] = [];
      for (const slowMs of [30, 0]) {
        let isSlow = slowMs > 0;
        Document.prototype.querySelectorAll = function (this: Document, selector: string) {
          const until = performance.now() + (isSlow ? slowMs : 0);
          isSlow = false;
          while (performance.now() < until);
          return search.call(this, selector);
        };
        const late = document.createElement("p");
        late.className = "late";
        document.querySelector("main")?.append(late);
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        texts.push(late.textContent);
      }
      Document.prototype.querySelectorAll = search;
      return texts;
    });
    assert.deepEqual(shown, ["Late", "Late"]);
    assert.deepEqual(problems, []);
    await close();
  });

  test("content that arrives in parts is changed once it is complete, and reverts to the whole content", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const url = browser.serve("/parts", {
      body: '<h1>Shop</h1><ul id="list"><li>one</li></ul><ol id="open"><li>1</li><li id="half">two par',
      rest: { until: promise, body: "ts</li><li>3</li></ol>" },
    });
    const script = scriptOf(url, [
      { op: "setText", selector: "h1", text: "Store" },
      { op: "setText", selector: "#half", text: "2" },
      { op: "insert", selector: "#open", position: "end", html: "<li>last</li>" },
      { op: "setStyle", selector: "#open", style: { color: "green" } },
    ]);
    const { page, problems, close } = await browser.open(url, [script], "commit");
    // A change waits only if it depends on the content of an incomplete element.
    await waitForState(page, "applied", "c4");
    assert.deepEqual(
      (await readReport(page)).changes.map(({ state }) => state),
      ["applied", "waiting", "waiting", "applied"],
    );
    resolve();
    await waitForState(page, "applied", "c2");
    await waitForState(page, "applied", "c3");
    assert.equal(await page.locator("#open").textContent(), "123last");
    assert.deepEqual(
      (await readReport(page)).changes.map(({ reapplied }) => reapplied),
      [0, 0, 0, 0],
    );
    await revert(page);
    assert.equal(
      await readBody(page),
      '<h1>Shop</h1><ul id="list"><li>one</li></ul><ol id="open"><li>1</li><li id="half">two parts</li><li>3</li></ol>',
    );
    assert.deepEqual(problems, []);
    await close();
  });

  test("a change that waits for content keeps its element although another change removes the matching class", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const url = browser.serve("/taken-class", {
      body: '<p>first</p><p class="x">o',
      rest: { until: promise, body: 'ld</p><p class="x">later</p>' },
    });
    const script = scriptOf(url, [
      { op: "removeClass", selector: ".x", className: "x" },
      { op: "setText", selector: ".x", text: "new" },
    ]);
    const { page, problems, close } = await browser.open(url, [script], "commit");
    await waitForState(page, "applied", "c1");
    assert.equal((await readReport(page)).changes[1]?.state, "waiting");
    resolve();
    const changed = `<p>first</p><p class="">new</p><p class="">new</p>`;
    await waitFor(async () => (await readBody(page)) === changed, "both elements have the new text");
    await page.evaluate(() => document.body.append(document.createElement("hr")));
    assert.equal(await readBody(page), `${changed}<hr>`);
    await revert(page);
    assert.equal(await readBody(page), `<p>first</p><p class="x">old</p><p class="x">later</p><hr>`);
    assert.deepEqual(problems, []);
    await close();
  });

  test("the page's writes are hidden while a change is applied, and appear after it is reverted", async () => {
    const url = browser.serve(
      "/external",
      `<p id="text">one</p><p id="mixed">a <b>b</b></p><p id="style" style="color: red">s</p><p id="class" class="x y">c</p><a id="link" href="/a">l</a>`,
    );
    const script = scriptOf(url, [
      { op: "setText", selector: "#text", text: "T" },
      { op: "setHtml", selector: "#mixed", html: "<i>H</i>" },
      { op: "setStyle", selector: "#style", style: { color: "green" } },
      { op: "addClass", selector: "#class", className: "on" },
      { op: "removeClass", selector: "#class", className: "x" },
      { op: "setAttribute", selector: "#link", name: "href", value: "/b" },
    ]);
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied", "c6");
    await page.evaluate(() => {
      const find = (id: string) => document.getElementById(id) as HTMLElement;
      find("text").textContent = "two";
      find("mixed").innerHTML = "<u>new</u>";
      find("style").style.color = "blue";
      find("style").style.margin = "1px";
      find("class").className = "x z";
      find("link").setAttribute("href", "/c");
    });
    const changed = await readBody(page);
    assert.equal(
      changed,
      `<p id="text">T</p><p id="mixed"><i>H</i></p><p id="style" style="color: green; margin: 1px;">s</p><p class="z on" id="class">c</p><a href="/b" id="link">l</a>`,
    );
    const report = await readReport(page);
    for (const { id, state, reapplied } of report.changes) {
      assert.equal(state, "applied", id);
      // One write restores both changes of the class. The write is counted for `c4` and not for `c5`.
      assert.equal(reapplied, id === "c5" ? 0 : 1, id);
    }
    await page.evaluate(() => document.getElementById("mixed")?.append("!"));
    assert.match(await readBody(page), /<p id="mixed"><i>H<\/i><\/p>/);
    await revert(page);
    assert.equal(
      await readBody(page),
      `<p id="text">two</p><p id="mixed"><u>new</u>!</p><p id="style" style="color: blue; margin: 1px;">s</p><p class="x z" id="class">c</p><a href="/c" id="link">l</a>`,
    );
    await close();
  });

  test("an animation of another property and a toggled class are not touched", async () => {
    const url = browser.serve("/animation", `<p id="box" class="a" style="transform: none">x</p>`);
    const script = scriptOf(url, [
      { op: "setStyle", selector: "#box", style: { color: "green" } },
      { op: "addClass", selector: "#box", className: "on" },
    ]);
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied", "c2");
    await page.evaluate(async () => {
      const box = document.getElementById("box") as HTMLElement;
      for (let count = 0; count < 60; count++) {
        box.style.transform = `translateX(${count}px)`;
        box.classList.toggle("open");
        await new Promise((resolve) => setTimeout(resolve));
      }
    });
    const { changes } = await readReport(page);
    assert.deepEqual(
      changes.map(({ state, reapplied }) => [state, reapplied]),
      [
        ["applied", 0],
        ["applied", 0],
      ],
    );
    await revert(page);
    assert.equal(await readBody(page), `<p class="a" id="box" style="transform: translateX(59px);">x</p>`);
    await close();
  });

  test("a list that is rendered repeatedly keeps its changes; added and removed rows do not count as a fight", async () => {
    const url = browser.serve("/list", "<ul></ul>");
    const script = scriptOf(url, [
      { op: "setText", selector: "li > button", text: "Buy" },
      { op: "insert", selector: "li", position: "after", html: "<hr>" },
    ]);
    const { page, close } = await browser.open(url, [script]);
    const render = (from: number) =>
      page.evaluate((first) => {
        const rows = [0, 1, 2, 3].map((row) => `<li>Row ${first + row} <button>Add</button></li>`);
        (document.querySelector("ul") as HTMLElement).innerHTML = rows.join("");
      }, from);
    const readTexts = () => page.evaluate(() => document.querySelector("ul")?.textContent);
    const readRules = () => page.evaluate(() => document.querySelectorAll("li + hr").length);
    for (let count = 0; count < 15; count++) {
      await render(1);
      await waitFor(
        async () => (await readReport(page)).changes.every(({ applied }) => applied === 4),
        "rows",
      );
    }
    assert.equal(await readTexts(), "Row 1 BuyRow 2 BuyRow 3 BuyRow 4 Buy");
    assert.equal(await readRules(), 4);
    // A long list renders different rows while it is scrolled. The runtime must not take these renders for a conflict
    // with the page's scripts, although their number exceeds the limit for conflicts.
    for (let count = 0; count < 30; count++) {
      await render(10 * count);
      await waitFor(async () => (await readReport(page)).changes[0]?.applied === 4, "scrolled rows");
    }
    assert.equal((await readReport(page)).changes[0]?.state, "applied");
    await revert(page);
    assert.equal(await page.evaluate(() => document.querySelectorAll("hr").length), 0);
    await close();
  });

  test("a change that the page undoes is applied twenty times, and then reported as a fight", async () => {
    const url = browser.serve(
      "/fight",
      `<p id="text">mine</p><div id="parent"><b id="new">mine</b></div><p id="calm">calm</p><script>
      const text = document.getElementById("text"), parent = document.getElementById("parent");
      window.writes = 0; window.renders = 0;
      new MutationObserver(() => { if (text.textContent !== "mine") { writes++; text.textContent = "mine"; } })
        .observe(text, { childList: true, characterData: true, subtree: true });
      new MutationObserver(() => { if (!parent.querySelector("b:not(.on)")) { renders++; parent.innerHTML = '<b id="new">mine</b>'; } })
        .observe(parent, { attributes: true, subtree: true });
      </script>`,
    );
    const script = scriptOf(url, [
      { op: "setText", selector: "#text", text: "ours" },
      { op: "addClass", selector: "#new", className: "on" },
      { op: "setText", selector: "#calm", text: "ours" },
    ]);
    const { page, problems, close } = await browser.open(url);
    await page.evaluate(script);
    await waitForState(page, "fight", "c1");
    await waitForState(page, "fight", "c2");
    await waitForState(page, "applied", "c3");
    const counts = await page.evaluate(() => [Reflect.get(window, "writes"), Reflect.get(window, "renders")]);
    assert.deepEqual(counts, [20, 20]);
    await revert(page);
    const texts = await page.evaluate(() =>
      ["text", "new", "calm"].map((id) => document.getElementById(id)?.textContent),
    );
    assert.deepEqual(texts, ["mine", "mine", "calm"]);
    assert.deepEqual(problems, []);
    await close();
  });

  test("a change leaves an element that no longer matches, and applies to one that the page makes match", async () => {
    const url = browser.serve("/tabs", `<b class="tab on">A</b><b class="tab">B</b><p class="x">old</p>`);
    const script = scriptOf(url, [
      { op: "setText", selector: ".tab.on", text: "Here" },
      { op: "removeClass", selector: ".x", className: "x" },
      { op: "setText", selector: ".x", text: "new" },
    ]);
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied", "c3");
    assert.equal(await readBody(page), `<b class="tab on">Here</b><b class="tab">B</b><p class="">new</p>`);
    await page.evaluate(() => {
      for (const tab of document.querySelectorAll(".tab")) tab.classList.toggle("on");
    });
    await waitFor(async () => (await readBody(page)).includes("Here</b><p"), "the other tab");
    assert.equal(await readBody(page), `<b class="tab">A</b><b class="tab on">Here</b><p class="">new</p>`);
    await close();
  });

  test("inserted nodes move with their element, and are removed with it", async () => {
    const url = browser.serve("/follow", `<div id="a"><p>1</p><p>2</p></div><div id="b"></div>`);
    const script = scriptOf(url, [{ op: "insert", selector: "p", position: "before", html: "<hr>" }]);
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied");
    await page.evaluate(() => {
      const [first, second] = document.querySelectorAll("p");
      document.getElementById("b")?.append(first as Element);
      second?.remove();
    });
    await waitFor(
      async () => (await readBody(page)) === `<div id="a"></div><div id="b"><hr><p>1</p></div>`,
      "the rule to follow",
    );
    await close();
  });

  test("moved and inserted nodes stay together, whatever the order of the changes", async () => {
    const url = browser.serve("/together", `<main><p id="a">a</p><p>b</p></main>`);
    const script = scriptOf(url, [
      { op: "insert", selector: "#a", position: "after", html: "<i>after a</i>" },
      { op: "insert", selector: "main", position: "end", html: "<i>end</i>" },
      { op: "move", selector: "#a", position: "end", target: "main" },
    ]);
    const { page, close } = await browser.open(url, [script]);
    await waitForState(page, "applied", "c3");
    const read = async () => (await readBody(page)).replace("<!---->", "");
    assert.equal(await read(), `<main><p>b</p><i>end</i><p id="a">a</p><i>after a</i></main>`);
    await page.evaluate(() => document.querySelector("main")?.append(document.createElement("hr"), "c"));
    const order = `<main><p>b</p><hr>c<i>end</i><p id="a">a</p><i>after a</i></main>`;
    await waitFor(async () => (await read()) === order, "the order");
    await revert(page);
    assert.equal(await readBody(page), `<main><p id="a">a</p><p>b</p><hr>c</main>`);
    await close();
  });

  test("listeners of neighbours and of a moved or removed element survive", async () => {
    const url = browser.serve(
      "/listeners",
      `<div id="box"><button>A</button><button id="b">B</button></div><p>end</p>`,
    );
    const { page, close } = await browser.open(url);
    await page.evaluate(() => {
      Object.assign(window, { clicks: 0 });
      for (const button of document.querySelectorAll("button"))
        button.addEventListener("click", () =>
          Object.assign(window, { clicks: Reflect.get(window, "clicks") + 1 }),
        );
    });
    const click = () =>
      page.evaluate(() => {
        for (const button of document.querySelectorAll("button")) button.click();
        return Reflect.get(window, "clicks");
      });
    await page.evaluate(
      scriptOf(url, [
        { op: "insert", selector: "#box", position: "end", html: "<i>new</i>" },
        { op: "move", selector: "#b", position: "after", target: "p" },
      ]),
    );
    assert.equal(await click(), 2);
    await page.evaluate(scriptOf(url, [{ op: "setHtml", selector: "#box", html: "empty" }]));
    await page.evaluate(scriptOf(url, [{ op: "remove", selector: "#b" }]));
    await revert(page);
    assert.equal(await click(), 4);
    await close();
  });

  test("the variant's style sheet returns when the page replaces its adopted style sheets", async () => {
    const url = browser.serve("/sheets", `<h1>Shop</h1>`);
    const script = scriptOf(url, [], { css: "h1 { color: rgb(1, 2, 3) }" });
    const { page, close } = await browser.open(url, [script]);
    const readColor = () =>
      page.evaluate(() => getComputedStyle(document.querySelector("h1") as Element).color);
    assert.equal(await readColor(), "rgb(1, 2, 3)");
    await page.evaluate(() => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("h1 { margin: 0 }");
      document.adoptedStyleSheets = [sheet];
    });
    await waitFor(async () => (await readColor()) === "rgb(1, 2, 3)", "the style sheet");
    await revert(page);
    assert.equal(await readColor(), "rgb(0, 0, 0)");
    assert.equal(await page.evaluate(() => document.adoptedStyleSheets.length), 1);
    await close();
  });
});
