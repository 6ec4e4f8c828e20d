import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { OVERLAY_ATTRIBUTE } from "#lib/injected/overlay/overlay-state.ts";
import type { LiveBrowser } from "../browser-service.ts";
import { waitFor } from "../testing.ts";
import { withOverlayHidden } from "./hide-overlay.ts";
import { type OverlayBench, openOverlayBench, PILL, SUBMIT } from "./overlay-testing.ts";

const STRICT_POLICY =
  "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; sandbox allow-scripts";

/** A page with rows that are 40 px high. Each row shows a different cursor. */
const CURSORS = `<style>body{margin:0}body>*{display:block;height:40px;width:200px;font:30px/40px monospace;border:0;padding:0;margin:0}</style>
  <a href="#">WWWWWWW</a><p>WWWWWWW</p><div style="cursor:url(none.png) 1 1,grab"></div>
  <x-root></x-root><iframe srcdoc="<body style='margin:0;height:40px;cursor:wait'>" style="height:60px"></iframe>
  <script>document.querySelector("x-root").attachShadow({mode:"open"}).innerHTML = "<i style='display:block;height:40px;cursor:crosshair'></i>"</script>`;

let bench: OverlayBench;

before(async () => {
  bench = await openOverlayBench((request, response) => {
    const policy = request.url === "/strict" ? { "content-security-policy": STRICT_POLICY } : {};
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...policy });
    if (request.url === "/cursors") return void response.end(CURSORS);
    if (request.url === "/emoji")
      return void response.end(`<button>${"x".repeat(39)}🐈${"y".repeat(118)}🐈</button>`);
    response.end(
      `<title>Shop</title><main><p>one</p><p>two <button data-testid="pay">Pay now</button></p></main>`,
    );
  });
});
after(() => bench.close());

async function pointOf(live: LiveBrowser, selector = "button"): Promise<{ x: number; y: number }> {
  const box = await live.page().locator(selector).boundingBox();
  assert.ok(box);
  return { x: box.x + 5, y: box.y + 5 };
}

test("a comment on an element whose text has emoji where it is cut is well-formed", async () => {
  const live = await bench.open("/emoji");
  const annotation = await bench.annotate(await pointOf(live), "Shorter");
  assert.equal(annotation.text, `${"x".repeat(39)}🐈${"y".repeat(118)}`);
  assert.equal(annotation.element, `button “${"x".repeat(39)}”`);
});

test("a person picks an element, writes a comment and submits it, on a page with a strict content policy", async () => {
  const live = await bench.open("/strict");
  await bench.addComment(await pointOf(live), "Say what it costs");
  const submission = await bench.submit();
  assert.equal(bench.harness.annotations[0]?.sessionId, bench.sessionId);
  assert.equal(submission.event, "submit");
  assert.equal(submission.url, `${bench.site.origin}/strict`);
  assert.equal(submission.annotations.length, 1);
  const [first] = submission.annotations;
  assert.deepEqual(
    [first?.type, first?.selector, first?.comment, first?.text],
    ["element", 'button[data-testid="pay"]', "Say what it costs", "Pay now"],
  );
  assert.match(submission.output, /^## Annotations: Shop\n[\s\S]*Say what it costs/);
  await bench.shows(live, "Sent. Thank you.");
});

test("a comment is edited like a text field: caret, selection, words, paste, line breaks and composed text", async () => {
  const live = await bench.open("/plain");
  const { browsers } = bench.harness;
  await bench.click(PILL);
  await bench.click(await pointOf(live));
  const SHIFT = 8;
  const CONTROL = 2;
  await bench.type("one three");
  await bench.press("ArrowLeft", "ArrowLeft", CONTROL);
  await browsers.input(bench.sessionId, { type: "paste", text: "two " });
  await bench.press("End");
  await bench.press("Enter", "Enter", SHIFT);
  await browsers.input(bench.sessionId, { type: "text", text: "四👩‍👩‍👧" });
  await bench.press("Backspace");
  await bench.press("Home");
  await bench.press("ArrowRight", "ArrowRight", SHIFT);
  await bench.type("4");
  await bench.shows(live, "one two three\\n4");
  await bench.press("Enter");
  assert.equal((await bench.submit()).annotations[0]?.comment, "one two three\n4");
  assert.equal(await live.page().evaluate("document.activeElement === document.body"), true);
});

test("a click in the comment moves the caret, and one elsewhere does nothing", async () => {
  const live = await bench.open("/plain");
  const { browsers } = bench.harness;
  const button = await pointOf(live);
  await bench.click(PILL);
  await bench.click(button);
  await bench.type("middle");
  let at = { x: button.x, y: button.y };
  await waitFor(async () => {
    at = { x: at.x, y: at.y + 4 };
    return (await browsers.readCursor(bench.sessionId, at.x + 10, at.y)) === "text";
  }, "the comment box");
  await bench.click({ x: at.x + 10, y: at.y + 10 });
  await waitFor(async () => {
    await bench.press("Home");
    return (await bench.readDocument(live)).includes("middle");
  }, "the text");
  await bench.click({ x: 700, y: 500 });
  await bench.type("The ");
  await bench.press("Enter");
  assert.equal((await bench.submit()).annotations[0]?.comment, "The middle");
});

test("input of a script never reaches the overlay, also while a person writes", async () => {
  const live = await bench.open("/plain");
  const { mouse, keyboard } = live.page();
  await bench.addComment(await pointOf(live), "Mine");
  bench.harness.annotations.length = 0;
  await mouse.click(SUBMIT.x, SUBMIT.y);
  await bench.click(PILL);
  await bench.click(await pointOf(live));
  await keyboard.type("a script's words");
  await bench.type("Also mine");
  await bench.press("Enter");
  await bench.shows(live, "Submit 2 comments");
  const text = await bench.readDocument(live);
  assert.ok(text.includes("Also mine") && !text.includes("a script's words"));
  assert.deepEqual(bench.harness.annotations, []);
});

test("during a script the overlay is in no page, not even a new one; a person's draft and comments return with it", async () => {
  const live = await bench.open("/plain");
  await bench.addComment(await pointOf(live), "First comment");
  await bench.click(PILL);
  await bench.click({ x: 20, y: 25 });
  await bench.type("half a");
  const showOverlay = await live.hideOverlay("script");
  for (const text of [OVERLAY_ATTRIBUTE, "First comment", "Annotate"])
    assert.ok(!(await bench.readDocument(live)).includes(text), text);
  bench.harness.annotations.length = 0;
  await bench.click(SUBMIT);
  await bench.type(" thought");
  showOverlay();
  await bench.shows(live, "First comment");
  await bench.press("Enter");
  await bench.shows(live, "half a thought");
  await bench.shows(live, "Submit 2 comments");
  assert.deepEqual(bench.harness.annotations, []);

  const showAgain = await live.hideOverlay("script");
  await bench.harness.browsers.navigate(bench.sessionId, `${bench.site.origin}/strict`);
  assert.ok(!(await bench.readDocument(live)).includes(OVERLAY_ATTRIBUTE));
  showAgain();
  await bench.untilShown();
});

test("while a picture is taken, keys still go to the comment and not to the page", async () => {
  const live = await bench.open("/plain");
  await live.page().evaluate(() => {
    Object.assign(globalThis, { keys: 0 });
    addEventListener("keydown", () => Object.assign(globalThis, { keys: 1 }), true);
  });
  await bench.click(PILL);
  await bench.click(await pointOf(live));
  await withOverlayHidden(live, () => bench.type("Unseen"));
  await bench.press("Enter");
  assert.equal((await bench.submit()).annotations[0]?.comment, "Unseen");
  assert.equal(await live.page().evaluate("keys"), 0);
});

test("a list that is longer than its place is scrolled, and its comments can be removed", async () => {
  const live = await bench.open("/plain");
  const { browsers } = bench.harness;
  for (let number = 1; number <= 12; number += 1) await bench.addComment(await pointOf(live), `no${number}`);
  await bench.shows(live, "Submit 12 comments");
  const [x, y] = [PILL.x + 15, SUBMIT.y - 54];
  await waitFor(async () => {
    await browsers.input(bench.sessionId, { type: "wheel", x, y, deltaX: 0, deltaY: 500, modifiers: 0 });
    return (await browsers.readCursor(bench.sessionId, x, y)) === "pointer";
  }, "a button at the end of the list");
  await bench.click({ x, y });
  const sent = await bench.submit();
  assert.deepEqual(
    sent.annotations.map(({ comment }) => comment),
    Array.from({ length: 11 }, (_, index) => `no${index + 1}`),
  );
});

test("a refused submission is shown with its reason, and the comments stay", async () => {
  const live = await bench.open("/plain");
  bench.refuseNext("the session is full");
  await bench.addComment(await pointOf(live), "Keep me");
  await bench.click(SUBMIT);
  await bench.shows(live, "Not sent: the session is full. Your comments are still here.");
  await bench.shows(live, "Keep me");
});

test("Escape closes an open comment box, then stops picking, and then reaches the page", async () => {
  const live = await bench.open("/plain");
  const page = live.page();
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    addEventListener("keydown", ({ key }) => seen.push(key));
  });
  const isShown = async (text: string) => (await bench.readDocument(live)).includes(text);
  await bench.click(PILL);
  await bench.click({ x: 20, y: 25 });
  await bench.shows(live, "What should change here?");
  await bench.press("Escape");
  await waitFor(async () => !(await isShown("What should change here?")), "the comment box to close");
  await bench.shows(live, "Pick an element");
  await bench.press("Escape");
  await waitFor(async () => !(await isShown("Pick an element")), "picking to end");
  assert.deepEqual(await page.evaluate("seen"), []);
  await bench.press("Escape");
  await waitFor(async () => (await page.evaluate("seen.length")) === 1, "the page to see the key");
});

test("a tool's screenshot does not show the overlay, which returns afterwards", async () => {
  const live = await bench.open("/plain");
  const clip = { x: 1130, y: 740, width: 150, height: 60 };
  const shoot = () => live.page().screenshot({ clip });
  const withOverlay = await shoot();
  const without = await withOverlayHidden(live, shoot);
  await live
    .page()
    .evaluate((attribute) => document.querySelector(`[${attribute}]`)?.remove(), OVERLAY_ATTRIBUTE);
  assert.notDeepEqual(without, withOverlay);
  await waitFor(async () => (await shoot()).equals(withOverlay), "the overlay to be back");
});

test("pages see only the overlay's host element, and the service raises it only when a page opens something", async () => {
  const live = await bench.open("/plain");
  const seen = await live.page().evaluate((attribute) => {
    const host = document.querySelector(`[${attribute}]`);
    return [
      host?.shadowRoot,
      host?.childNodes.length,
      Object.keys(globalThis).filter((key) => /agentSession/.test(key)),
    ];
  }, OVERLAY_ATTRIBUTE);
  assert.deepEqual(seen, [null, 0, []]);
  const cdp = await live.context.newCDPSession(live.page());
  await cdp.send("DOM.enable");
  let changes = 0;
  cdp.on("DOM.topLayerElementsUpdated", () => {
    changes += 1;
  });
  await live.page().evaluate(() => {
    const dialog = document.body.appendChild(document.createElement("dialog"));
    dialog.showModal();
  });
  await waitFor(() => changes > 0, "the change");
  const settled = await waitFor(async () => {
    const earlier = changes;
    for (let round = 0; round < 20; round += 1) await cdp.send("Runtime.evaluate", { expression: "1" });
    return changes === earlier && changes;
  }, "the top layer to settle");
  assert.ok(settled < 30, `${settled} changes`);
  await cdp.detach();
});

test("the page's cursor can be read at any point, also in frames, shadow roots and the overlay", async () => {
  await bench.open("/cursors");
  const read = (x: number, y: number) => bench.harness.browsers.readCursor(bench.sessionId, x, y);
  const cursors = [];
  for (const y of [20, 60, 100, 140, 190]) cursors.push(await read(30, y));
  assert.deepEqual(cursors, ["pointer", "text", "grab", "crosshair", "wait"]);
  assert.equal(await read(700, 400), "default");
  assert.equal(await read(PILL.x, PILL.y), "pointer");
  assert.equal(await bench.harness.browsers.readCursor("ses_none", 1, 1), "default");
  await bench.click(PILL);
  assert.equal(await read(30, 60), "crosshair");
});
