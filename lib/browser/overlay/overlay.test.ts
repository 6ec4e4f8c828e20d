import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";
import { OVERLAY_ATTRIBUTE, OVERLAY_BINDING } from "./overlay-world.ts";
import { withOverlayHidden } from "./with-overlay-hidden.ts";

const STRICT_POLICY =
  "default-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'; sandbox allow-scripts";

/** A row of 40 px for each kind of place. */
const CURSORS = `<style>body{margin:0}body>*{display:block;height:40px;width:200px;font:30px/40px monospace;border:0;padding:0;margin:0}</style>
  <a href="#">WWWWWWW</a><p>WWWWWWW</p><div style="cursor:url(none.png) 1 1,grab"></div>
  <x-root></x-root><iframe srcdoc="<body style='margin:0;height:40px;cursor:wait'>" style="height:60px"></iframe>
  <script>document.querySelector("x-root").attachShadow({mode:"open"}).innerHTML = "<i style='display:block;height:40px;cursor:crosshair'></i>"</script>`;

let site: Awaited<ReturnType<typeof startTestSite>>;
let house: TestBrowsers;
let sessionId: string;

before(async () => {
  site = await startTestSite((request, response) => {
    const policy = request.url === "/strict" ? { "content-security-policy": STRICT_POLICY } : {};
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...policy });
    if (request.url === "/cursors") return void response.end(CURSORS);
    response.end(
      `<title>Shop</title><main><p>one</p><p>two <button data-testid="pay">Pay now</button></p></main>`,
    );
  });
  house = await openTestBrowsers([`127.0.0.1:${site.port}`]);
  sessionId = await insertTestSession(house.db);
});
after(async () => {
  await house.close();
  await site.close();
});

const PILL = { x: 1230, y: 772 };

test("a person picks an element, writes a comment and submits it, on a page with a strict content policy", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/strict`);
  const live = await house.browsers.ensure(sessionId);
  const { mouse, keyboard } = live.page();
  const button = await live.page().locator("button").boundingBox();
  assert.ok(button);
  await mouse.click(PILL.x, PILL.y);
  await mouse.move(button.x + 5, button.y + 5);
  await mouse.click(button.x + 5, button.y + 5);
  await keyboard.type("Say what it costs");
  await keyboard.press("Enter");
  // The submit button of the list stands right above the pill.
  await mouse.click(PILL.x - 60, PILL.y - 42);
  const [annotation] = await waitFor(
    () => house.annotations.length > 0 && house.annotations,
    "the annotation",
  );
  assert.equal(annotation?.sessionId, sessionId);
  const submission = annotation?.submission as {
    event: string;
    output: string;
    url: string;
    annotations: { type: string; selector: string; comment: string; text: string }[];
  };
  assert.equal(submission.event, "submit");
  assert.equal(submission.url, `${site.origin}/strict`);
  assert.equal(submission.annotations.length, 1);
  const [made] = submission.annotations;
  assert.deepEqual(
    [made?.type, made?.selector, made?.comment, made?.text],
    ["element", 'button[data-testid="pay"]', "Say what it costs", "Pay now"],
  );
  assert.match(submission.output, /Say what it costs/);
});

test("a script of the agent that clicks its way through the overlay submits nothing, until a person acts again", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/plain`);
  const live = await house.browsers.ensure(sessionId);
  const before = house.annotations.length;
  const { mouse, keyboard } = live.page();
  const annotate = async () => {
    await mouse.click(PILL.x, PILL.y);
    await mouse.click(20, 25);
    await keyboard.type("From a script");
    await keyboard.press("Enter");
  };
  live.noteScriptInput({ kind: "down", x: PILL.x, y: PILL.y });
  await annotate();
  await mouse.click(PILL.x - 60, PILL.y - 42);
  // An answer of the overlay comes after the submission that it sent before.
  await house.browsers.readCursor(sessionId, 5, 700);
  // Its words say so, and its list stays: the same button submits once a person has touched the page.
  await house.browsers.input(sessionId, {
    ...{ type: "mouse", action: "down", button: "none", clickCount: 0, modifiers: 0 },
    ...{ x: 5, y: 700 },
  });
  assert.equal(house.annotations.length, before);
  await waitFor(async () => {
    await mouse.click(PILL.x - 60, PILL.y - 70);
    await mouse.click(PILL.x - 60, PILL.y - 42);
    return house.annotations.length > before;
  }, "the annotation of a person");
});

test("the overlay is not in a screenshot that a tool makes, and back afterwards", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/plain`);
  const live = await house.browsers.ensure(sessionId);
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

test("pages see nothing of the overlay but its host element", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/plain`);
  const live = await house.browsers.ensure(sessionId);
  const seen = await live.page().evaluate((attribute) => {
    const host = document.querySelector(`[${attribute}]`);
    return [
      host?.shadowRoot,
      host?.childNodes.length,
      Object.keys(globalThis).filter((key) => /agentSession/.test(key)),
    ];
  }, OVERLAY_ATTRIBUTE);
  assert.deepEqual(seen, [null, 0, []]);
});

test("nobody but the overlay submits: a binding of the same name in the page's own world counts for nothing", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/plain`);
  const live = await house.browsers.ensure(sessionId);
  const before = house.annotations.length;
  const script = await live.context.newCDPSession(live.page());
  const heard = new Promise((resolve) => script.once("Runtime.bindingCalled", resolve));
  await script.send("Runtime.enable");
  await script.send("Runtime.addBinding", { name: OVERLAY_BINDING });
  await live.page().evaluate((name) => {
    const report = (globalThis as unknown as Record<string, (payload: string) => void>)[name];
    report?.(JSON.stringify({ event: "submit", annotations: [{ comment: "forged" }] }));
  }, OVERLAY_BINDING);
  await heard;
  // Answered after whatever the browser said before.
  await (await live.cdp()).send("Runtime.evaluate", { expression: "1" });
  await script.detach();
  assert.equal(house.annotations.length, before);
});

test("the page's cursor is told for any point, also in frames, shadow roots and the overlay", async () => {
  await house.browsers.navigate(sessionId, `${site.origin}/cursors`);
  await house.browsers.ensure(sessionId);
  const cursors = [];
  for (const y of [20, 60, 100, 140, 190]) cursors.push(await house.browsers.readCursor(sessionId, 30, y));
  assert.deepEqual(cursors, ["pointer", "text", "grab", "crosshair", "wait"]);
  assert.equal(await house.browsers.readCursor(sessionId, 700, 400), "default");
  assert.equal(await house.browsers.readCursor(sessionId, PILL.x, PILL.y), "pointer");
  assert.equal(await house.browsers.readCursor("ses_none", 1, 1), "default");
});
