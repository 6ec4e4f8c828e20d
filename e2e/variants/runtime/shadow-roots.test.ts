import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import { onceSource } from "#lib/injected/bundle.ts";
import { openRuntimeBrowser, readReport, revert, scriptOf, waitForState } from "./runtime-fixture.ts";

const browser = openRuntimeBrowser();

const BODY = `<p>light</p>
<x-outer><template shadowrootmode="open"><p>outer</p><x-inner><template shadowrootmode="open"><p>inner</p></template></x-inner><slot></slot></template><p>slotted</p></x-outer>
<x-late></x-late><div id="plain"></div>`;

/**
 * An expression that returns the texts of all paragraphs: first those of the document, then those of the shadow roots.
 */
const READ = `(() => { const read = (root) => [...root.querySelectorAll("p")].map((p) => p.textContent)
  .concat(...[...root.querySelectorAll("*")].filter((e) => e.shadowRoot).map((e) => read(e.shadowRoot))); return read(document).join(); })()`;

describe("open shadow roots", () => {
  test("are searched like the document, including roots that are attached later", async () => {
    const url = browser.serve("/shadow", BODY);
    const script = scriptOf(url, [{ op: "setText", selector: "p", text: "P" }], {
      css: "p { --own: yes }",
    });
    const { page, problems, close } = await browser.open(url, [script]);
    await waitForState(page, "applied");
    assert.equal(await page.evaluate(READ), "P,P,P,P");
    await page.evaluate(() => {
      customElements.define(
        "x-late",
        class extends HTMLElement {
          connectedCallback() {
            this.attachShadow({ mode: "open" }).innerHTML = "<p>late</p>";
          }
        },
      );
      const root = document.getElementById("plain")?.attachShadow({ mode: "open" });
      setTimeout(() => root?.append(document.createElement("p")));
    });
    await waitFor(async () => (await page.evaluate(READ)) === "P,P,P,P,P,P", "the late shadow roots");
    const report = await readReport(page);
    assert.deepEqual([report.changes[0]?.matches, report.changes[0]?.applied], [6, 6]);
    const isStyled = await page.evaluate(() => {
      const late = document.querySelector("x-late")?.shadowRoot?.querySelector("p") as Element;
      return getComputedStyle(late).getPropertyValue("--own");
    });
    assert.equal(isStyled, "yes");
    await page.evaluate(() => {
      const inner = document.querySelector("x-outer")?.shadowRoot?.querySelector("x-inner")?.shadowRoot;
      (inner?.querySelector("p") as Element).textContent = "again";
    });
    await waitFor(async () => (await page.evaluate(READ)) === "P,P,P,P,P,P", "the change to come back");
    await revert(page);
    assert.equal(await page.evaluate(READ), "light,slotted,outer,again,late,");
    assert.deepEqual(problems, []);
    await close();
  });

  test("`>>` looks inside an element, and nth takes one", async () => {
    const url = browser.serve("/shadow-parts", BODY);
    for (const [selector, expected] of [
      ["x-outer >> p", "light,P,P,P"],
      ["x-outer >> x-inner >> p", "light,slotted,outer,P"],
      ["p >> nth=2", "light,slotted,P,inner"],
      ["x-outer >> p >> nth=1", "light,slotted,P,inner"],
    ] as const) {
      const { page, close } = await browser.open(url);
      await page.evaluate(scriptOf(url, [{ op: "setText", selector, text: "P" }]));
      assert.equal(await page.evaluate(READ), expected, selector);
      await close();
    }
  });

  test("selectors find the same elements as the page kit of the browser tools", async () => {
    const url = browser.serve(
      "/shadow-kit",
      `${BODY}<x-outer id="second"><template shadowrootmode="open"><p>a</p><p>b</p></template><p>c</p></x-outer>`,
    );
    const selectors = [
      "p",
      "x-outer >> p",
      "x-outer >> nth=1 >> p",
      "x-outer >> p >> nth=3",
      "x-outer > p",
      "body >> p >> nth=4",
      "x-inner",
      "p >> nth=9",
    ];
    for (const selector of selectors) {
      const { page, close } = await browser.open(url);
      const found =
        await page.evaluate(`window.kit = ${onceSource("tools", "createPageKit", [{ prefix: "", next: 1 }])};
        window.expected = kit.queryAll(${JSON.stringify(selector)}); expected.length`);
      await page.evaluate(scriptOf(url, [{ op: "addClass", selector, className: "found" }]));
      const isSame = await page.evaluate(`(() => {
        const marked = kit.roots().flatMap((root) => [...root.querySelectorAll(".found")]);
        return marked.length === expected.length && marked.every((element) => expected.includes(element)); })()`);
      assert.ok(isSame, selector);
      assert.equal((await readReport(page)).changes[0]?.matches, found);
      await close();
    }
  });
});
