import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LiveBrowser } from "../browser-service.ts";
import { type OverlayBench, openOverlayBench } from "./overlay-testing.ts";

/**
 * A page that keeps people from its rest: with `open()` it blocks everything but one part. It records all input events,
 * in listeners that are registered before any of the overlay.
 */
const page = (body: string, open: string) => `<!doctype html>
  <style>body{margin:0} .box{position:fixed;left:300px;top:200px;width:300px;height:200px;margin:0;padding:0;border:0;background:#fff}</style>
  <script>
    var seen = [];
    for (const kind of ["keydown","keyup","keypress","beforeinput","input","pointerdown","pointerup","mousedown","mouseup",
      "click","focusin","focusout","blur","cancel","close","toggle","fullscreenchange"])
      addEventListener(kind, (event) => { event.stopImmediatePropagation(); seen.push(kind); }, true);
  </script>
  <input id="field" style="display:block;height:40px">${body}
  <script>function openIt() { ${open} }</script>`;

const TRAP = `const inside = document.querySelector("#name"); inside.focus();
  setInterval(() => inside.focus(), 5); addEventListener("focusout", () => inside.focus(), true);`;
const BOX = `<div class="box" id="box"><input id="name"><button id="pay">Pay</button></div>`;

const PAGES: Record<string, string> = {
  "/modal": page(
    `<dialog class="box" id="box"><button id="pay">Pay</button><input id="name"></dialog>`,
    `document.querySelector("#box").showModal()`,
  ),
  "/light-dismiss": page(
    `<dialog class="box" id="box" closedby="any"><button id="pay">Pay</button></dialog>`,
    `document.querySelector("#box").showModal()`,
  ),
  "/popover": page(
    `<div popover class="box" style="width:100%;height:100%;inset:0" id="box"><button id="pay">Pay</button></div>`,
    `document.querySelector("#box").showPopover()`,
  ),
  "/shadow-modal": page(
    `<x-dialog id="box"></x-dialog>`,
    `const root = document.querySelector("#box").attachShadow({ mode: "open" });
     root.innerHTML = '<dialog style="position:fixed;left:300px;top:200px;width:300px;height:200px;margin:0;padding:0;border:0"><button id=pay>Pay</button></dialog>';
     root.firstChild.showModal()`,
  ),
  "/trap": page(BOX, TRAP),
  "/inert": page(BOX, `document.querySelector("#name").focus(); document.body.inert = true`),
  "/inert-root": page(BOX, `document.documentElement.inert = true`),
  "/outside-press": page(
    BOX,
    `for (const kind of ["pointerdown", "mousedown", "click", "focusin"])
     document.addEventListener(kind, (event) => event.target.closest?.("#box") || document.querySelector("#box").remove(), true)`,
  ),
  "/fullscreen": page(BOX, `document.querySelector("#box").requestFullscreen()`),
  "/rewritten": page(
    "",
    `document.open(); document.write(${JSON.stringify(page(BOX, "")).replaceAll("</script>", "<\\/script>")}); document.close()`,
  ),
  "/zoomed": page(
    BOX,
    `document.documentElement.style.zoom = "1.5"; document.documentElement.style.transform = "scale(.9)"`,
  ),
};

let bench: OverlayBench;
let live: LiveBrowser;

before(async () => {
  bench = await openOverlayBench((request, response) => {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(PAGES[request.url ?? ""]);
  });
});
after(() => bench.close());

/** Opens a page and blocks it. Returns the middle of the page's button. */
async function openBlocked(path: string): Promise<{ x: number; y: number }> {
  live = await bench.open(path);
  await live.page().evaluate("void openIt()");
  const button = live.page().locator("#pay");
  await button.waitFor();
  const box = await button.boundingBox();
  assert.ok(box);
  await live.page().evaluate("seen.length = 0");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
/** Returns what is above everything else in the page's top layer. */
async function readTopLayer(): Promise<string> {
  const cdp = await live.context.newCDPSession(live.page());
  await cdp.send("DOM.enable");
  await cdp.send("DOM.getDocument", { depth: 0 });
  const { nodeIds } = await cdp.send("DOM.getTopLayerElements");
  const top = nodeIds.at(-1);
  const { node } =
    top === undefined ? { node: undefined } : await cdp.send("DOM.describeNode", { nodeId: top });
  await cdp.detach();
  return node?.attributes?.join(" ") ?? "";
}

for (const path of Object.keys(PAGES))
  test(`a comment on ${path}, of which the page sees nothing`, async () => {
    const button = await openBlocked(path);
    const sent = await bench.annotate(button, "Make it larger");
    assert.match(await readTopLayer(), /panel/);
    assert.deepEqual([sent.comment, sent.text], ["Make it larger", "Pay"]);
    assert.equal(sent.selector, path === "/shadow-modal" ? "#box >> #pay" : "#pay");
    const state = await live
      .page()
      .evaluate(() => [
        [...new Set((globalThis as unknown as { seen: string[] }).seen)],
        [...document.querySelectorAll("input")].map(({ value }) => value).join(""),
        document.querySelector("#box") !== null,
      ]);
    assert.deepEqual(state, [[], "", true]);
  });
