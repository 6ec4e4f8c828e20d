import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ElementAnchor } from "./locate/find-elements.ts";
import { type OverlayBench, openOverlayBench, type SentAnnotation } from "./overlay-testing.ts";

/** Pages by path. `PORT` becomes the site's port. */
const PAGES: Record<string, string> = {
  "/list": `<style>body{margin:0} button{display:block;height:40px;width:200px}</style>
    <main><button>One</button><button>Two</button><button>Three</button></main>`,
  "/shadow": `<style>body{margin:0}</style><x-open id="open"></x-open><x-closed id="closed"></x-closed><script>
    const fill = (id, mode) => { document.querySelector("#" + id).attachShadow({ mode }).innerHTML =
      "<button id=inner style='display:block;width:200px;height:40px'>" + mode + "</button>" };
    fill("open", "open"); fill("closed", "closed");</script>`,
  "/large": `<style>body{margin:0}</style><main></main><script>
    document.querySelector("main").innerHTML = "<p>Some <b>bold</b> <i>words</i></p>".repeat(10_000)
      + "<button style='display:block;height:40px'>Last</button>";</script>`,
  "/frames": `<style>body{margin:0} iframe{border:0;display:block;height:100px;width:300px}</style>
    <iframe id="other" src="http://localhost:PORT/list"></iframe>`,
};

const toAnchor = ({
  selector,
  shadowSelector,
  frame,
  role,
  name,
  text,
  boundingBox,
}: Note): ElementAnchor => ({
  selector,
  shadowSelector: shadowSelector ?? null,
  frame: frame ?? null,
  traits: {
    tag: "button",
    role: role ?? null,
    name: name ?? null,
    text,
    center: { x: boundingBox.x + boundingBox.width / 2, y: boundingBox.y + boundingBox.height / 2 },
  },
});
type Note = SentAnnotation & { role?: string; name?: string };

/** Chromium may run frames of other sites in processes of their own (`--site-per-process`), or not. */
for (const chromiumArgs of [[], ["--site-per-process"]])
  describe(`an annotated element ${chromiumArgs}`, () => {
    let bench: OverlayBench;

    before(async () => {
      bench = await openOverlayBench((request, response) => {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
        response.end(PAGES[request.url ?? ""]?.replaceAll("PORT", String(request.socket.localPort)));
      }, chromiumArgs);
    });
    after(() => bench.close());

    const find = async (note: Note) => {
      const sought = await bench.harness.browsers.findElements(bench.sessionId, [toAnchor(note)]);
      return sought?.elements[0];
    };

    test("that moved is found by role and name, one with another name by text, and a removed one not", async () => {
      const live = await bench.open("/list");
      const note: Note = await bench.annotate({ x: 20, y: 60 }, "this one");
      assert.deepEqual([note.role, note.name, note.text], ["button", "Two", "Two"]);
      const box = { x: 0, y: 40, width: 200, height: 40 };
      assert.deepEqual(await find(note), { state: "found", by: "selector", box });
      const change = (script: string) => live.page().evaluate(script);
      await change("document.querySelector('main').append(document.querySelectorAll('button')[1])");
      assert.deepEqual(await find(note), { state: "found", by: "role", box: { ...box, y: 80 } });
      await change("document.querySelectorAll('button')[2].setAttribute('aria-label', 'Second')");
      assert.deepEqual(await find(note), { state: "found", by: "text", box: { ...box, y: 80 } });
      await change("window.kept = document.querySelectorAll('button')[2]; kept.remove()");
      assert.deepEqual(await find(note), { state: "gone" });
      await change("kept.removeAttribute('aria-label'); document.querySelector('main').prepend(kept)");
      assert.deepEqual(await find(note), { state: "found", by: "role", box: { ...box, y: 0 } });
    });

    test("of which there are several is the one that is nearest to where it was", async () => {
      const live = await bench.open("/list");
      const note: Note = await bench.annotate({ x: 20, y: 60 }, "this one");
      await live
        .page()
        .evaluate("document.querySelector('main').innerHTML = '<div><button>Two</button></div>'.repeat(3)");
      const box = { x: 0, y: 40, width: 200, height: 40 };
      assert.deepEqual(await find(note), { state: "found", by: "role", box });
    });

    test("in open and closed shadow roots is found, and is gone with its host", async () => {
      const live = await bench.open("/shadow");
      const open: Note = await bench.annotate({ x: 20, y: 20 }, "open");
      const closed: Note = await bench.annotate({ x: 20, y: 60 }, "closed");
      assert.deepEqual(
        [open.selector, closed.selector, closed.shadowSelector],
        ["#open >> #inner", "#closed", "#inner"],
      );
      const box = { x: 0, y: 0, width: 200, height: 40 };
      assert.deepEqual(await find(open), { state: "found", by: "selector", box });
      assert.deepEqual(await find(closed), { state: "found", by: "selector", box: { ...box, y: 40 } });
      await live
        .page()
        .evaluate("document.querySelectorAll('x-open, x-closed').forEach((host) => host.remove())");
      assert.deepEqual([await find(open), await find(closed)], [{ state: "gone" }, { state: "gone" }]);
    });

    test("in a frame of another origin is found, and is gone with its frame", async () => {
      const live = await bench.open("/frames");
      const note: Note = await bench.annotate({ x: 20, y: 60 }, "in the frame");
      assert.equal(note.frame, "#other");
      const box = { x: 0, y: 40, width: 200, height: 40 };
      assert.deepEqual(await find(note), { state: "found", by: "selector", box });
      await live.page().frames()[1]?.evaluate("document.querySelectorAll('button')[1].remove()");
      assert.deepEqual(await find(note), { state: "gone" });
      await live.page().evaluate("document.querySelector('iframe').remove()");
      assert.deepEqual(await find(note), { state: "gone" });
    });

    test("keeps a large page busy only for a moment, however many there are; those not looked for are unknown", async () => {
      const live = await bench.open("/large");
      const traits = { tag: null, role: null, name: null, text: null, center: null };
      const none = { selector: null, shadowSelector: null, frame: null, traits };
      const last = { ...none, traits: { ...traits, tag: "button", role: "button", name: "Last" } };
      const missing = Array.from({ length: 98 }, (_, index) => ({
        ...none,
        selector: `p:has(~ p:has(~ #none-${index}))`,
        traits: { ...traits, role: "slider", name: `None ${index}`, text: `None ${index}` },
      }));
      const selected = { ...none, selector: "main > button" };
      const look = () => bench.harness.browsers.findElements(bench.sessionId, [last, ...missing, selected]);
      const sought = await look();
      const states = sought?.elements.map(({ state }) => state) ?? [];
      // Whether the time is enough for the first one depends on the machine.
      assert.match(states[0] ?? "", /^(found|unknown)$/);
      assert.deepEqual([states.length, states[98], states.at(-1)], [100, "unknown", "found"]);
      assert.ok(!states.slice(1, -1).includes("found"));
      // The page is not busy any more.
      assert.equal(await live.page().evaluate("1 + 1"), 2);
      const three = await Promise.all([look(), look(), look()]);
      assert.deepEqual(
        three.map((each) => each !== null),
        [true, true, false],
        "one look at a time, and one that waits for it",
      );
    });

    test("with a selector that is not valid is found by its other anchors", async () => {
      await bench.open("/list");
      const note: Note = await bench.annotate({ x: 20, y: 60 }, "this one");
      const found = await find({ ...note, selector: "main > [" });
      assert.ok(found?.state === "found" && found.by === "role");
      assert.deepEqual(await find({ ...note, frame: "#none" }), { state: "gone" });
    });
  });
