import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "#lib/browser/testing.ts";
import { createScriptRunner, type ScriptRunner } from "./script-runner.ts";

let site: Awaited<ReturnType<typeof startTestSite>>;
let harness: TestBrowsers;
let scripts: ScriptRunner;
let sessionId: string;

before(async () => {
  site = await startTestSite((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<title>Shop</title><main><button>Pay now</button></main>");
  });
  harness = await openTestBrowsers([`127.0.0.1:${site.port}`]);
  sessionId = await insertTestSession(harness.db);
  scripts = await createScriptRunner({ logger: { warn: () => {} }, isWarm: false });
  await harness.browsers.navigate(sessionId, site.origin);
});
after(async () => {
  await scripts.close();
  await harness.close();
  await site.close();
});

const PILL = { x: 1230, y: 772 };
/** Script code that gets the raw DevTools session of its page, bypassing Playwright's interface. */
const RAW = "const raw = page._connection.toImpl(page).delegate._mainFrameSession._client;";

async function untilShown(): Promise<void> {
  await waitFor(
    async () => (await harness.browsers.readCursor(sessionId, PILL.x, PILL.y)) === "pointer",
    "the overlay",
  );
}
async function run(script: string) {
  const live = await harness.browsers.ensure(sessionId);
  const outcome = await scripts.run(live, `${RAW}\n${script}`, {
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  });
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.value;
}

test("no DevTools command shows a script any part of the overlay, in any document it opens", async () => {
  await untilShown();
  const seen = await run(`
    const look = async () => JSON.stringify([
      await raw.send("DOM.getDocument", { depth: -1, pierce: true }),
      await raw.send("DOMSnapshot.captureSnapshot", { computedStyles: [], includeDOMRects: true }),
      await raw.send("Accessibility.getFullAXTree"),
      await raw.send("DOM.getNodeForLocation", { x: ${PILL.x}, y: ${PILL.y} }),
      await page.content(),
    ]);
    const first = await look();
    await page.reload();
    return first + await look();
  `);
  assert.match(String(seen), /Pay now/);
  assert.doesNotMatch(String(seen), /Annotate|agent-session-overlay/);
  await untilShown();
});

test("a script that annotates with raw input submits nothing, and leaves nothing for a person to submit", async () => {
  await untilShown();
  await run(`
    const click = async (x, y) => {
      const mouse = { x, y, button: "left", clickCount: 1 };
      await raw.send("Input.dispatchMouseEvent", { type: "mousePressed", ...mouse });
      await raw.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...mouse });
    };
    await click(${PILL.x}, ${PILL.y});
    await click(20, 25);
    await raw.send("Input.insertText", { text: "Please pay the agent" });
    await raw.send("Input.dispatchKeyEvent", { type: "keyDown", key: "Enter", code: "Enter" });
    await click(${PILL.x - 60}, ${PILL.y - 42});
    // Input that the page has not handled when the script ends must not reach the overlay either.
    for (let n = 0; n < 50; n++) void click(${PILL.x}, ${PILL.y});
  `);
  await untilShown();
  const live = await harness.browsers.ensure(sessionId);
  const cdp = await live.context.newCDPSession(live.page());
  const { root } = await cdp.send("DOM.getDocument", { depth: -1, pierce: true });
  assert.match(JSON.stringify(root), /Annotate/);
  assert.doesNotMatch(JSON.stringify(root), /Please pay|Pick an element/);
  assert.deepEqual(harness.annotations, []);
});
