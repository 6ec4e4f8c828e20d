import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { LiveBrowser } from "../browser-service.ts";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";
import { withOverlayHidden } from "./hide-overlay.ts";
import { OVERLAY_ATTRIBUTE, OVERLAY_BINDING, OVERLAY_WORLD } from "./install-overlay.ts";

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
let release: () => void;

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
  // Of a browser that nothing uses a picture is taken after a while, without the overlay.
  release = await house.browsers.hold(sessionId);
});
after(async () => {
  release();
  await house.close();
  await site.close();
});

const PILL = { x: 1230, y: 772 };
/** The button of the list that submits, while the list holds one comment and no status is shown. */
const SUBMIT = { x: PILL.x - 60, y: PILL.y - 42 };

async function untilShown(): Promise<void> {
  await waitFor(
    async () => (await house.browsers.readCursor(sessionId, PILL.x, PILL.y)) === "pointer",
    "the overlay",
  );
}

/** Opens a page with the overlay in it. */
async function open(path: string): Promise<LiveBrowser> {
  await house.browsers.navigate(sessionId, `${site.origin}${path}`);
  const live = await house.browsers.ensure(sessionId);
  await untilShown();
  return live;
}

/** Everything in the page as DevTools sees it, closed shadow roots included. */
async function readDocument(live: LiveBrowser): Promise<string> {
  const cdp = await live.context.newCDPSession(live.page());
  const { root } = await cdp.send("DOM.getDocument", { depth: -1, pierce: true });
  await cdp.detach();
  return JSON.stringify(root);
}

/** Writes a comment about the button of the page, and adds it to the list. */
async function addComment(live: LiveBrowser, comment: string): Promise<void> {
  const { mouse, keyboard } = live.page();
  const button = await live.page().locator("button").boundingBox();
  assert.ok(button);
  await mouse.click(PILL.x, PILL.y);
  await mouse.move(button.x + 5, button.y + 5);
  await mouse.click(button.x + 5, button.y + 5);
  await keyboard.type(comment);
  await keyboard.press("Enter");
}

/** A person moves the pointer to a spot of the page where nothing is, and presses nothing. */
const touchAsPerson = () =>
  house.browsers.input(sessionId, {
    type: "mouse",
    action: "down",
    button: "none",
    clickCount: 0,
    modifiers: 0,
    x: 5,
    y: 700,
  });

test("a person picks an element, writes a comment and submits it, on a page with a strict content policy", async () => {
  const live = await open("/strict");
  await addComment(live, "Say what it costs");
  await live.page().mouse.click(SUBMIT.x, SUBMIT.y);
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

test("after input of a script nothing is submitted until a person acts again, and the refusal is shown", async () => {
  const live = await open("/plain");
  const before = house.annotations.length;
  await addComment(live, "Wait for me");
  live.noteScriptInput({ kind: "down", x: 5, y: 700 });
  await live.page().mouse.click(SUBMIT.x, SUBMIT.y);
  await waitFor(
    async () => (await readDocument(live)).includes("Not sent: a script of the agent was using the page"),
    "the refusal",
  );
  assert.equal(house.annotations.length, before);
  await touchAsPerson();
  // The pill clears the refusal, so that the button is back in its place.
  await live.page().mouse.click(PILL.x, PILL.y);
  await live.page().keyboard.press("Escape");
  await live.page().mouse.click(SUBMIT.x, SUBMIT.y);
  await waitFor(() => house.annotations.length > before, "the annotation of a person");
});

test("during a script the overlay is in no page, new ones included; a person's draft and comments return with it", async () => {
  const live = await open("/plain");
  const { mouse, keyboard } = live.page();
  await addComment(live, "First comment");
  await mouse.click(PILL.x, PILL.y);
  await mouse.click(20, 25);
  await keyboard.type("half a");
  const showOverlay = await live.hideOverlay("script");
  for (const text of [OVERLAY_ATTRIBUTE, "First comment", "Annotate"])
    assert.ok(!(await readDocument(live)).includes(text), text);
  await mouse.click(SUBMIT.x, SUBMIT.y);
  showOverlay();
  await waitFor(async () => (await readDocument(live)).includes("First comment"), "the list");
  await keyboard.type(" thought");
  await keyboard.press("Enter");
  const text = await waitFor(async () => {
    const seen = await readDocument(live);
    return seen.includes("half a thought") && seen;
  }, "the second comment");
  assert.ok(text.includes("Submit 2 comments"));

  const showAgain = await live.hideOverlay("script");
  await house.browsers.navigate(sessionId, `${site.origin}/strict`);
  assert.ok(!(await readDocument(live)).includes(OVERLAY_ATTRIBUTE));
  showAgain();
  await untilShown();
});

test("a submission that arrives while a script runs is refused, and the person reads why", async () => {
  const live = await open("/plain");
  const before = house.annotations.length;
  await touchAsPerson();
  const showOverlay = await live.hideOverlay("script");
  const cdp = await live.context.newCDPSession(live.page());
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const world = await cdp.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: OVERLAY_WORLD,
  });
  const report = JSON.stringify({
    kind: "submit",
    body: JSON.stringify({ event: "submit", annotations: [] }),
  });
  await cdp.send("Runtime.evaluate", {
    contextId: world.executionContextId,
    expression: `globalThis.${OVERLAY_BINDING}(${JSON.stringify(report)})`,
  });
  showOverlay();
  await waitFor(
    async () => (await readDocument(live)).includes("Not sent: a script of the agent was using the page"),
    "the refusal",
  );
  assert.equal(house.annotations.length, before);
});

test("clicks made by code are ignored: the overlay takes trusted events only", async () => {
  const live = await open("/plain");
  const cdp = await live.context.newCDPSession(live.page());
  await cdp.send("DOM.enable");
  await cdp.send("DOM.getDocument");
  const { nodes } = await cdp.send("DOM.getFlattenedDocument", { depth: -1, pierce: true });
  const pill = nodes.find(({ attributes }) => attributes?.includes("pill"));
  assert.ok(pill);
  const { object } = await cdp.send("DOM.resolveNode", { backendNodeId: pill.backendNodeId });
  const { objectId } = object;
  assert.ok(objectId);
  await cdp.send("Runtime.callFunctionOn", { objectId, functionDeclaration: "function () { this.click() }" });
  const { result } = await cdp.send("Runtime.callFunctionOn", {
    objectId,
    functionDeclaration: "function () { return this.textContent }",
  });
  assert.equal(result.value, "Annotate");
});

test("Escape closes an open comment box, then leaves picking, and then belongs to the page", async () => {
  const live = await open("/plain");
  const page = live.page();
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    addEventListener("keydown", ({ key }) => seen.push(key));
  });
  const press = async () => {
    for (const action of ["down", "up"] as const)
      await house.browsers.input(sessionId, {
        type: "key",
        action,
        key: "Escape",
        code: "Escape",
        modifiers: 0,
      });
  };
  const shows = async (text: string) => (await readDocument(live)).includes(text);
  await page.mouse.click(PILL.x, PILL.y);
  await page.mouse.click(20, 25);
  assert.ok(await shows("What should change here?"));
  await press();
  await waitFor(async () => !(await shows("What should change here?")), "the comment box to close");
  assert.ok(await shows("Pick an element"), "picking goes on");
  await press();
  await waitFor(async () => !(await shows("Pick an element")), "picking to end");
  assert.deepEqual(await page.evaluate("seen"), []);
  await press();
  await waitFor(async () => (await page.evaluate("seen.length")) === 1, "the page to see the key");
});

test("the overlay is not in a screenshot that a tool makes, and back afterwards", async () => {
  const live = await open("/plain");
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
  const live = await open("/plain");
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
  const live = await open("/plain");
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
  await open("/cursors");
  const cursors = [];
  for (const y of [20, 60, 100, 140, 190]) cursors.push(await house.browsers.readCursor(sessionId, 30, y));
  assert.deepEqual(cursors, ["pointer", "text", "grab", "crosshair", "wait"]);
  assert.equal(await house.browsers.readCursor(sessionId, 700, 400), "default");
  assert.equal(await house.browsers.readCursor(sessionId, PILL.x, PILL.y), "pointer");
  assert.equal(await house.browsers.readCursor("ses_none", 1, 1), "default");
});
