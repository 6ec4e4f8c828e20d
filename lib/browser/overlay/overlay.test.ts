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

/** A page with rows that are 40 px high. Each row shows a different cursor. */
const CURSORS = `<style>body{margin:0}body>*{display:block;height:40px;width:200px;font:30px/40px monospace;border:0;padding:0;margin:0}</style>
  <a href="#">WWWWWWW</a><p>WWWWWWW</p><div style="cursor:url(none.png) 1 1,grab"></div>
  <x-root></x-root><iframe srcdoc="<body style='margin:0;height:40px;cursor:wait'>" style="height:60px"></iframe>
  <script>document.querySelector("x-root").attachShadow({mode:"open"}).innerHTML = "<i style='display:block;height:40px;cursor:crosshair'></i>"</script>`;

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let sessionId: string;
let release: () => void;

before(async () => {
  site = await startTestSite((request, response) => {
    const policy = request.url === "/strict" ? { "content-security-policy": STRICT_POLICY } : {};
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...policy });
    if (request.url === "/cursors") return void response.end(CURSORS);
    if (request.url === "/emoji")
      return void response.end(`<button>${"x".repeat(39)}🐈${"y".repeat(118)}🐈</button>`);
    response.end(
      `<title>Shop</title><main><p>one</p><p>two <button data-testid="pay">Pay now</button></p></main>`,
    );
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`]);
  sessionId = await insertTestSession(harness.db);
  // Keeps the browser in use. For a picture of an unused browser, the service would hide the overlay for a moment.
  release = await harness.browsers.hold(sessionId);
});
after(async () => {
  release();
  await harness.close();
  await site.close();
});

const PILL = { x: 1230, y: 772 };
/** The position of the submit button while the list has one comment and no status is shown. */
const SUBMIT = { x: PILL.x - 60, y: PILL.y - 42 };

async function untilShown(): Promise<void> {
  await waitFor(
    async () => (await harness.browsers.readCursor(sessionId, PILL.x, PILL.y)) === "pointer",
    "the overlay",
  );
}

/** Opens a page and waits for the overlay. */
async function open(path: string): Promise<LiveBrowser> {
  await harness.browsers.navigate(sessionId, `${site.origin}${path}`);
  const live = await harness.browsers.ensure(sessionId);
  await untilShown();
  return live;
}

/** Returns the whole document as DevTools shows it, including closed shadow roots. */
async function readDocument(live: LiveBrowser): Promise<string> {
  const cdp = await live.context.newCDPSession(live.page());
  const { root } = await cdp.send("DOM.getDocument", { depth: -1, pierce: true });
  await cdp.detach();
  return JSON.stringify(root);
}

/** Adds a comment about the page's button to the list. */
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

/** Sends input of a person. The input has no effect in the page, because it is a mouse event without a button. */
const touchAsPerson = () =>
  harness.browsers.input(sessionId, {
    type: "mouse",
    action: "down",
    button: "none",
    clickCount: 0,
    modifiers: 0,
    x: 5,
    y: 700,
  });

test("a comment on an element whose text has emoji where it is cut is well-formed", async () => {
  const live = await open("/emoji");
  harness.annotations.length = 0;
  await addComment(live, "Shorter");
  await live.page().mouse.click(SUBMIT.x, SUBMIT.y);
  const [sent] = await waitFor(() => harness.annotations.length > 0 && harness.annotations, "the annotation");
  assert.ok(sent);
  const { annotations } = sent.submission as { annotations: { text: string; element: string }[] };
  const [annotation] = annotations;
  assert.equal(annotation?.text, `${"x".repeat(39)}🐈${"y".repeat(118)}`);
  assert.equal(annotation?.element, `button “${"x".repeat(39)}”`);
  harness.annotations.length = 0;
});

test("a person picks an element, writes a comment and submits it, on a page with a strict content policy", async () => {
  const live = await open("/strict");
  await addComment(live, "Say what it costs");
  await live.page().mouse.click(SUBMIT.x, SUBMIT.y);
  const [annotation] = await waitFor(
    () => harness.annotations.length > 0 && harness.annotations,
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
  const [first] = submission.annotations;
  assert.deepEqual(
    [first?.type, first?.selector, first?.comment, first?.text],
    ["element", 'button[data-testid="pay"]', "Say what it costs", "Pay now"],
  );
  assert.match(submission.output, /Say what it costs/);
});

test("after input of a script, submissions are refused until a person acts again, and the refusal is shown", async () => {
  const live = await open("/plain");
  const before = harness.annotations.length;
  await addComment(live, "Wait for me");
  live.noteScriptInput({ kind: "down", x: 5, y: 700 });
  await live.page().mouse.click(SUBMIT.x, SUBMIT.y);
  await waitFor(
    async () => (await readDocument(live)).includes("Not sent: a script of the agent was using the page"),
    "the refusal",
  );
  assert.equal(harness.annotations.length, before);
  await touchAsPerson();
  // A click on the pill clears the status. This moves the submit button back to `SUBMIT`.
  await live.page().mouse.click(PILL.x, PILL.y);
  await live.page().keyboard.press("Escape");
  await live.page().mouse.click(SUBMIT.x, SUBMIT.y);
  await waitFor(() => harness.annotations.length > before, "the annotation of a person");
});

test("during a script the overlay is in no page, not even a new one; a person's draft and comments return with it", async () => {
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
  await harness.browsers.navigate(sessionId, `${site.origin}/strict`);
  assert.ok(!(await readDocument(live)).includes(OVERLAY_ATTRIBUTE));
  showAgain();
  await untilShown();
});

test("a submission that arrives while a script runs is refused, and the overlay shows why", async () => {
  const live = await open("/plain");
  const before = harness.annotations.length;
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
  assert.equal(harness.annotations.length, before);
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

test("Escape closes an open comment box, then stops picking, and then reaches the page", async () => {
  const live = await open("/plain");
  const page = live.page();
  await page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(globalThis, { seen });
    addEventListener("keydown", ({ key }) => seen.push(key));
  });
  const press = async () => {
    for (const action of ["down", "up"] as const)
      await harness.browsers.input(sessionId, {
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
  assert.ok(await shows("Pick an element"), "picking continues");
  await press();
  await waitFor(async () => !(await shows("Pick an element")), "picking to end");
  assert.deepEqual(await page.evaluate("seen"), []);
  await press();
  await waitFor(async () => (await page.evaluate("seen.length")) === 1, "the page to see the key");
});

test("a tool's screenshot does not show the overlay, which returns afterwards", async () => {
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

test("pages see only the overlay's host element", async () => {
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

test("a binding of the same name in the page's own world cannot submit", async () => {
  const live = await open("/plain");
  const before = harness.annotations.length;
  const script = await live.context.newCDPSession(live.page());
  const calledBack = new Promise((resolve) => script.once("Runtime.bindingCalled", resolve));
  await script.send("Runtime.enable");
  await script.send("Runtime.addBinding", { name: OVERLAY_BINDING });
  await live.page().evaluate((name) => {
    const report = (globalThis as unknown as Record<string, (payload: string) => void>)[name];
    report?.(JSON.stringify({ event: "submit", annotations: [{ comment: "forged" }] }));
  }, OVERLAY_BINDING);
  await calledBack;
  // Waits for all earlier messages. DevTools keeps the order, so they have arrived when this command is answered.
  await (await live.cdp()).send("Runtime.evaluate", { expression: "1" });
  await script.detach();
  assert.equal(harness.annotations.length, before);
});

test("the page's cursor can be read at any point, also in frames, shadow roots and the overlay", async () => {
  await open("/cursors");
  const cursors = [];
  for (const y of [20, 60, 100, 140, 190]) cursors.push(await harness.browsers.readCursor(sessionId, 30, y));
  assert.deepEqual(cursors, ["pointer", "text", "grab", "crosshair", "wait"]);
  assert.equal(await harness.browsers.readCursor(sessionId, 700, 400), "default");
  assert.equal(await harness.browsers.readCursor(sessionId, PILL.x, PILL.y), "pointer");
  assert.equal(await harness.browsers.readCursor("ses_none", 1, 1), "default");
});
