import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { waitFor } from "#lib/browser/testing.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import { exportGrowthBook } from "#lib/variant/formats/growthbook/export-growthbook.ts";
import { exportPostHog } from "#lib/variant/formats/posthog/export-posthog.ts";
import { readReport, revert } from "../runtime/runtime-fixture.ts";
import { type Applied, documentOf, type FormatsBrowser, startFormatsBrowser } from "./formats-fixture.ts";

let browser: FormatsBrowser;
before(async () => {
  browser = await startFormatsBrowser();
});
after(() => browser.close());

const KEY = "pub_tools";
const NAMED = { name: "Theirs", key: "theirs" };
const BODY = `<header id="top" class="a">Shop</header><p id="lead">Lead</p><button id="pay">Pay</button>
<ul id="list"><li>One</li><li>Two</li></ul>`;
type Changes = Parameters<typeof documentOf>[1];

/** Serves a page that loads the published script of a variant by its tag. */
function servePublished(path: string, changes: Changes): string {
  const url = browser.serve(path, "");
  const body = variantScript(documentOf(url, changes), KEY);
  const script = browser.serve(`/v${path}.js`, { headers: { "content-type": "text/javascript" }, body });
  return browser.serve(path, `<script async src="${script}"></script>${BODY}`);
}

const OURS: Changes = [
  { op: "setText", selector: "#pay", text: "Buy" },
  { op: "addClass", selector: "#top", className: "ours" },
  { op: "insert", selector: "#list", position: "after", html: "<p class='note'>Ours</p>" },
];
const TOOLS = {
  GrowthBook: {
    theirs: [
      { op: "setText", selector: "#lead", text: "Theirs" },
      { op: "addClass", selector: "#top", className: "theirs" },
      { op: "setText", selector: "li", text: "Item" },
    ] satisfies Changes,
    apply: (url: string, changes: Changes): Promise<Applied> =>
      browser.applyGrowthBook(url, exportGrowthBook(documentOf(url, changes), NAMED).document.experiments),
  },
  PostHog: {
    theirs: [
      { op: "setText", selector: "#lead", text: "Theirs" },
      { op: "setHtml", selector: "#list", html: "<li>Item</li><li>Item</li>" },
    ] satisfies Changes,
    apply: (url: string, changes: Changes): Promise<Applied> =>
      browser.applyPostHog(url, exportPostHog(documentOf(url, changes), NAMED).document.experiments),
  },
};

const untilApplied = ({ page }: Applied) =>
  waitFor(async () => {
    const { changes } = await readReport(page, KEY);
    return changes.every(({ state }) => state === "applied") && changes;
  }, "the published script has applied its changes");

const readTexts = ({ page }: Applied) => page.locator("#lead, #pay, li, .note").allTextContents();

for (const [name, { theirs, apply }] of Object.entries(TOOLS))
  describe(`the published script next to the SDK of ${name}`, () => {
    test("both apply their changes, and each can end without the other", async () => {
      const url = servePublished(`/${name}`, OURS);
      const opened = await apply(url, theirs);
      const changes = await untilApplied(opened);
      assert.deepEqual(await readTexts(opened), ["Theirs", "Buy", "Item", "Item", "Ours"]);
      assert.ok(changes.every(({ reapplied }) => reapplied === 0));
      assert.deepEqual(opened.problems, []);
      await revert(opened.page, KEY);
      assert.deepEqual(await readTexts(opened), ["Theirs", "Pay", "Item", "Item"]);
      await opened.close();
    });

    test("the same changes, published and exported, stand once", async () => {
      const same = theirs.filter(({ op }) => op === "setText");
      const url = servePublished(`/${name}-same`, same);
      const opened = await apply(url, same);
      await untilApplied(opened);
      assert.equal((await readTexts(opened))[0], "Theirs");
      assert.deepEqual(opened.problems, []);
      await opened.close();
    });

    test("different texts of one element do not keep the page busy", async () => {
      const url = servePublished(`/${name}-other`, [{ op: "setText", selector: "#lead", text: "Ours" }]);
      const opened = await apply(url, [{ op: "setText", selector: "#lead", text: "Theirs" }]);
      const { page } = opened;
      await page.evaluate(() => {
        Reflect.set(window, "mutations", 0);
        new MutationObserver((records) => {
          Reflect.set(window, "mutations", Reflect.get(window, "mutations") + records.length);
        }).observe(document.body, { subtree: true, childList: true, characterData: true });
      });
      const countInFrames = () =>
        page.evaluate(async () => {
          const before = Reflect.get(window, "mutations");
          for (let frames = 0; frames < 10; frames++)
            await new Promise((resolve) => requestAnimationFrame(resolve));
          return Reflect.get(window, "mutations") - before;
        });
      await waitFor(async () => (await countInFrames()) === 0, "the page comes to rest");
      assert.match((await readTexts(opened))[0] ?? "", /^(Ours|Theirs)$/);
      const [change] = (await readReport(page, KEY)).changes;
      assert.ok(change && change.reapplied <= 20, JSON.stringify(change));
      await opened.close();
    });
  });
