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

let site: Awaited<ReturnType<typeof startTestSite>>;
let house: TestBrowsers;
let sessionId: string;

before(async () => {
  site = await startTestSite((request, response) => {
    const policy = request.url === "/strict" ? { "content-security-policy": STRICT_POLICY } : {};
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", ...policy });
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
