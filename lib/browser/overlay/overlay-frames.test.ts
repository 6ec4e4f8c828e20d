import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createFrameSessions } from "./locate/frame-sessions.ts";
import { locateElement } from "./locate/locate-element.ts";
import { type OverlayBench, openOverlayBench, PILL } from "./overlay-testing.ts";

/** Pages by path. `PORT` becomes the site's port. */
const PAGES: Record<string, string> = {
  "/frames": `<style>body{margin:0;height:3000px} iframe{border:0;display:block;height:100px;width:300px}</style>
    <iframe id="same" src="/inner"></iframe>
    <iframe id="other" src="http://localhost:PORT/inner" style="border:10px solid;padding:5px"></iframe>
    <iframe id="inline" srcdoc="<style>body{margin:0}</style><button id=in>Inline</button>"></iframe>
    <iframe id="sandboxed" sandbox="allow-scripts" src="/inner"></iframe>
    <iframe id="nested" src="http://localhost:PORT/outer"></iframe>`,
  "/inner": `<style>body{margin:0;height:600px} p{margin:0;height:50px}</style><p id=first>First</p><p id=second>Second</p>`,
  "/outer": `<style>body{margin:0}iframe{border:0}</style><p style="margin:0;height:30px">Outer</p>
    <iframe name="deep" src="http://127.0.0.1:PORT/closed" height=60></iframe>`,
  "/closed": `<style>body{margin:0}</style><x-box id="box"></x-box><script>
    document.querySelector("#box").attachShadow({ mode: "closed" }).innerHTML = "<button id=hidden style='width:200px;height:40px'>Hidden</button>"</script>`,
  "/moved": `<style>body{margin:0;height:3000px}</style><iframe id="f" src="http://localhost:PORT/inner" style="border:0;width:400px;height:200px;position:absolute;left:100px;top:300px;transform:rotate(90deg) scale(.5);transform-origin:0 0"></iframe>
    <iframe id="z" src="http://localhost:PORT/inner" style="border:0;width:400px;height:200px;position:absolute;left:300px;top:300px;zoom:2"></iframe>`,
  "/late": `<style>body{margin:0}</style><p>Nothing yet</p>`,
};

/** Chromium may run frames of other sites in processes of their own (`--site-per-process`), or not. */
for (const chromiumArgs of [[], ["--site-per-process"]])
  describe(`frames ${chromiumArgs}`, () => {
    let bench: OverlayBench;

    before(async () => {
      bench = await openOverlayBench((request, response) => {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
        response.end(PAGES[request.url ?? ""]?.replaceAll("PORT", String(request.socket.localPort)));
      }, chromiumArgs);
    });
    after(() => bench.close());

    test("frames of other sites have processes of their own only where Chromium isolates sites", async () => {
      const live = await bench.open("/frames");
      const session = await live.context.newCDPSession(live.page());
      const { frameTree } = await session.send("Page.getFrameTree");
      await session.detach();
      assert.equal(frameTree.childFrames?.length, chromiumArgs.length > 0 ? 2 : 5);
    });

    const placeOf = ({ frame, frameUrl, selector }: Awaited<ReturnType<OverlayBench["annotate"]>>) => [
      frame,
      frameUrl?.replace(String(bench.site.port), "PORT"),
      selector,
    ];

    test("elements in frames of the same and of other origins are annotated with the path of their frames", async () => {
      await bench.open("/frames");
      const same = await bench.annotate({ x: 20, y: 70 }, "same");
      assert.deepEqual(placeOf(same), ["#same", "http://127.0.0.1:PORT/inner", "#second"]);
      assert.deepEqual([same.text, same.comment], ["Second", "same"]);
      assert.deepEqual(same.boundingBox, { x: 0, y: 50, width: 300, height: 50 });
      const other = await bench.annotate({ x: 40, y: 180 }, "other");
      assert.deepEqual(placeOf(other), ["#other", "http://localhost:PORT/inner", "#second"]);
      assert.deepEqual(other.boundingBox, { x: 15, y: 165, width: 300, height: 50 });
      assert.deepEqual(placeOf(await bench.annotate({ x: 5, y: 105 }, "border")), [
        undefined,
        undefined,
        "#other",
      ]);
      const inline = await bench.annotate({ x: 10, y: 240 }, "inline");
      assert.deepEqual(placeOf(inline), ["#inline", "about:srcdoc", "#in"]);
      const sandboxed = await bench.annotate({ x: 10, y: 400 }, "sandboxed");
      assert.deepEqual(placeOf(sandboxed), ["#sandboxed", "http://127.0.0.1:PORT/inner", "#second"]);
    });

    test("nested frames, and a closed shadow root in a frame", async () => {
      const live = await bench.open("/frames");
      await live.page().evaluate("scrollTo(0, 380)");
      const outer = await bench.annotate({ x: 10, y: 60 }, "outer");
      assert.deepEqual(placeOf(outer), ["#nested", "http://localhost:PORT/outer", "p"]);
      const hidden = await bench.annotate({ x: 20, y: 85 }, "hidden");
      assert.deepEqual(placeOf(hidden), [
        '#nested → iframe[name="deep"]',
        "http://127.0.0.1:PORT/closed",
        "#box",
      ]);
      assert.deepEqual([hidden.shadowSelector, hidden.text], ["#hidden", "Hidden"]);
      assert.deepEqual(hidden.boundingBox, { x: 0, y: 460, width: 200, height: 40 });
    });

    test("frames that are rotated, scaled, zoomed and scrolled", async () => {
      const live = await bench.open("/moved");
      const [, rotated, zoomed] = live.page().frames();
      assert.ok(rotated && zoomed);
      for (const frame of [rotated, zoomed]) await frame.evaluate("scrollTo(0, 20)");
      await live.page().evaluate("scrollTo(0, 100)");
      // The frame's top edge is its right edge in the page: x from 100 down to 0, y from 200 to 400 in the viewport.
      const turned = await bench.annotate({ x: 80, y: 250 }, "rotated");
      assert.deepEqual([turned.frame, turned.selector], ["#f", "#second"]);
      assert.deepEqual(turned.boundingBox, { x: 60, y: 300, width: 25, height: 200 });
      const large = await bench.annotate({ x: 700, y: 600 }, "zoomed");
      assert.deepEqual([large.frame, large.selector], ["#z", "#second"]);
      assert.deepEqual(large.boundingBox, { x: 600, y: 660, width: 800, height: 100 });
    });

    test("an element is found while others are being found", async () => {
      const live = await bench.open("/frames");
      const session = await live.context.newCDPSession(live.page());
      await session.send("DOM.enable");
      const frames = createFrameSessions(live.openDevtools);
      const finding = [];
      for (let round = 0; round < 40; round += 1) {
        const point = { x: 40, y: round % 2 === 0 ? 70 : 180 };
        finding.push(locateElement(session.send.bind(session), frames, point));
        await session.send("Page.getFrameTree");
      }
      const found = await Promise.all(finding);
      const places = new Set(found.map((each) => `${each?.description.frame} ${each?.description.selector}`));
      assert.deepEqual([...places], ["#same #second", "#other #second"]);
      frames.close();
      await session.detach();
    });

    test("a frame that is added later, moves to another site and is removed during the comment", async () => {
      const live = await bench.open("/late");
      const page = live.page();
      const show = (url: string) =>
        page.evaluate(async (src) => {
          const frame = document.querySelector("iframe") ?? document.createElement("iframe");
          const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
          Object.assign(frame, { src, id: "late" });
          if (!frame.isConnected) document.body.prepend(frame);
          await loaded;
        }, url);
      await show("/inner");
      assert.deepEqual(placeOf(await bench.annotate({ x: 20, y: 20 }, "added")), [
        "#late",
        "http://127.0.0.1:PORT/inner",
        "#first",
      ]);
      await show(`http://localhost:${bench.site.port}/inner`);
      await bench.click(PILL);
      await bench.click({ x: 20, y: 80 });
      await bench.type("half");
      await page.evaluate("document.querySelector('iframe').remove()");
      await bench.type(" typed");
      await bench.press("Enter");
      const { annotations } = await bench.submit();
      assert.ok(annotations[0]);
      assert.deepEqual(placeOf(annotations[0]), ["#late", "http://localhost:PORT/inner", "#second"]);
      assert.equal(annotations[0].comment, "half typed");
    });

    test("the outline follows an element whose frame is scrolled", async () => {
      const live = await bench.open("/frames");
      await bench.click(PILL);
      await bench.click({ x: 40, y: 180 });
      await bench.shows(live, "translate(15px, 165px)");
      const other = live
        .page()
        .frames()
        .find((frame) => frame.url().includes("localhost"));
      await other?.evaluate("scrollTo(0, 30)");
      await bench.shows(live, "translate(15px, 135px)");
      await bench.press("Escape");
      await bench.press("Escape");
    });
  });
