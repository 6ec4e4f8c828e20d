import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type OverlayBench, openOverlayBench } from "../overlay-testing.ts";
import type { MarkedPart } from "./locate-target.ts";

/** Pages by path. `PORT` becomes the site's port. */
const PAGES: Record<string, string> = {
  "/page": `<style>body{margin:0;height:3000px;font:20px/40px monospace} p{margin:0;width:600px;height:40px}</style>
    <main id="main"><p id="first">One <b>two</b> three</p><p id="second">Four five six</p></main>
    <x-open id="open"></x-open>
    <iframe id="frame" src="http://localhost:PORT/inner" style="border:10px solid;display:block;width:400px;height:200px"></iframe>
    <input id="field" value="Typed text" style="display:block;height:40px">
    <script>
      const seen = [];
      for (const name of ["pointermove", "mousemove", "mousedown", "click", "focus", "selectionchange"])
        document.addEventListener(name, () => seen.push(name), true);
      document.querySelector("#open").attachShadow({ mode: "open" }).innerHTML =
        "<p id=shadow style='margin:0;height:40px'>Seven eight</p>";
    </script>`,
  "/inner": `<style>body{margin:0;font:20px/40px monospace} p{margin:0;height:40px}</style>
    <div id="box"><p id="in">Nine ten eleven</p><p>Twelve</p></div>`,
};

/** The width of a character of the pages' texts, in CSS pixels. */
const CHARACTER = 12;

/** Chromium may run frames of other sites in processes of their own (`--site-per-process`), or not. */
for (const chromiumArgs of [[], ["--site-per-process"]])
  describe(`what a person marks ${chromiumArgs}`, () => {
    let bench: OverlayBench;
    before(async () => {
      bench = await openOverlayBench((request, response) => {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
        response.end(PAGES[request.url ?? ""]?.replaceAll("PORT", String(request.socket.localPort)));
      }, chromiumArgs);
    });
    after(() => bench.close());
    const locate = (part: MarkedPart) => bench.harness.browsers.locateTarget(bench.sessionId, part);

    test("an element, an area and a text, also in an open shadow root, while the page notices nothing", async () => {
      const live = await bench.open("/page");
      const element = await locate({ kind: "element", x: 20, y: 60 });
      assert.deepEqual(
        [element?.note.type, element?.note.selector, element?.note.text, element?.box],
        ["element", "#second", "Four five six", { x: 0, y: 40, width: 600, height: 40 }],
      );
      assert.equal(element?.page.url, `${bench.site.origin}/page`);

      const within = await locate({ kind: "area", x: 10, y: 45, width: 50, height: 30 });
      assert.deepEqual([within?.note.type, within?.note.selector], ["area", "#second"]);
      assert.deepEqual(within?.note.area, { x: 10, y: 45, width: 50, height: 30 });
      const across = await locate({ kind: "area", x: 10, y: 10, width: 50, height: 60 });
      assert.deepEqual(
        [across?.note.selector, across?.box],
        ["#main", { x: 10, y: 10, width: 50, height: 60 }],
      );
      const inShadow = await locate({ kind: "area", x: 10, y: 85, width: 50, height: 30 });
      assert.equal(inShadow?.note.selector, "#open >> #shadow");

      const from = { x: 4 * CHARACTER, y: 20 };
      const word = await locate({ kind: "text", from, to: { x: 7 * CHARACTER, y: 20 } });
      assert.deepEqual([word?.note.quote, word?.note.selector], ["two", "#first"]);
      const lines = await locate({ kind: "text", from: { x: 4 * CHARACTER, y: 60 }, to: from });
      assert.deepEqual([lines?.note.quote, lines?.note.selector], ["two three Four", "#main"]);
      const shadow = await locate({
        kind: "text",
        from: { x: 1, y: 100 },
        to: { x: 5 * CHARACTER, y: 100 },
      });
      assert.deepEqual([shadow?.note.quote, shadow?.note.selector], ["Seven", "#open >> #shadow"]);
      assert.equal(await locate({ kind: "text", from, to: from }), null);
      assert.deepEqual(await live.page().evaluate("seen"), []);
      assert.equal(await live.page().evaluate("getSelection().toString()"), "");
    });

    test("in a frame of another origin of a page that is scrolled, and across the border of the frame", async () => {
      const live = await bench.open("/page");
      await live.page().evaluate("scrollTo(0, 100)");
      // The content of the frame begins at 10, 30.
      const text = await locate({
        kind: "text",
        from: { x: 10 + 5 * CHARACTER, y: 50 },
        to: { x: 10 + 8 * CHARACTER, y: 50 },
      });
      assert.deepEqual([text?.note.quote, text?.note.frame, text?.note.selector], ["ten", "#frame", "#in"]);
      const close = (actual = 0, wanted = 0) => assert.ok(Math.abs(actual - wanted) < 5, `${actual}`);
      close(text?.note.area?.x, 10 + 5 * CHARACTER);
      close(text?.note.area?.y, 130 + 10);
      const area = await locate({ kind: "area", x: 20, y: 40, width: 100, height: 60 });
      assert.deepEqual([area?.note.frame, area?.note.selector], ["#frame", "#box"]);
      assert.deepEqual(area?.note.area, { x: 20, y: 140, width: 100, height: 60 });
      const border = await locate({ kind: "area", x: 2, y: 40, width: 100, height: 60 });
      assert.deepEqual([border?.note.frame, border?.note.selector], [undefined, "#frame"]);
      const bottom = await locate({ kind: "area", x: 20, y: 200, width: 100, height: 60 });
      assert.equal(bottom?.note.frame, undefined);
      const field = { y: 250, from: 10, to: 60 };
      const inField = await locate({
        kind: "text",
        from: { x: field.from, y: field.y },
        to: { x: field.to, y: field.y },
      });
      assert.equal(inField, null);
    });

    test("is looked for by at most four calls at once", async () => {
      await bench.open("/page");
      const found = await Promise.all(
        Array.from({ length: 6 }, () => locate({ kind: "element", x: 20, y: 60 })),
      );
      assert.equal(found.filter((target) => target === null).length, 2);
      assert.notEqual(await locate({ kind: "element", x: 20, y: 60 }), null);
    });

    test("of a session without a browser is nothing", async () => {
      assert.equal(
        await bench.harness.browsers.locateTarget("ses_none", { kind: "element", x: 1, y: 1 }),
        null,
      );
    });
  });
