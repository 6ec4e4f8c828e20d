import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DevtoolsMessage } from "#lib/browser/process/devtools-connection.ts";
import { startSite, startTestBrowser, type TestBrowser } from "../test-fixture.ts";
import { connectPageRelay, type PageRelay } from "./page-relay.ts";

let browser: TestBrowser;
let site: Awaited<ReturnType<typeof startSite>>;
let relay: PageRelay;
const received: DevtoolsMessage[] = [];
const inputs: unknown[] = [];
let wake = () => {};
let lastId = 0;

before(async () => {
  site = await startSite({ "/": "<title>Page</title>" });
  browser = await startTestBrowser();
  await browser.live.page().goto(site.url);
  relay = await connectPageRelay({
    openDevtools: browser.live.openDevtools,
    targetId: await browser.live.targetId(),
    toScript: (message) => {
      received.push(message);
      wake();
    },
    onInput: (pointer) => inputs.push(pointer),
    onBroken: () => assert.fail("no message is broken"),
    onClose: () => {},
  });
});
after(async () => {
  relay?.close();
  await Promise.all([browser?.close(), site?.close()]);
});

/** Waits until the script has received a message that matches, and returns the first one. */
async function receive(fits: (message: DevtoolsMessage) => boolean): Promise<DevtoolsMessage> {
  for (;;) {
    const found = received.find(fits);
    if (found) return found;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}
function ask(method: string, params: object = {}, sessionId?: string): Promise<DevtoolsMessage> {
  const id = ++lastId;
  relay.fromScript({ id, method, params, ...(sessionId && { sessionId }) });
  return receive((message) => message.id === id);
}

test("the script is shown only the session's page", async () => {
  const other = await browser.live.context.newPage();
  await ask("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  const shown = received.filter(({ method }) => method === "Target.attachedToTarget");
  assert.deepEqual(
    shown.map(({ params }) => (params as { targetInfo: { targetId: string } }).targetInfo.targetId),
    [await browser.live.targetId()],
  );
  await other.close();
});

test("an answer that is too large for a result becomes an error, and later commands still work", async () => {
  const attached = received.find(({ method }) => method === "Target.attachedToTarget");
  const sessionId = String(attached?.params?.sessionId);
  const evaluate = (expression: string) => ask("Runtime.evaluate", { expression }, sessionId);
  const large = await evaluate("'x'.repeat(13 * 2 ** 20)");
  assert.equal(large.sessionId, sessionId);
  assert.match(large.error?.message ?? "", /larger than 12 MiB/);
  assert.deepEqual((await evaluate("'x'.repeat(11 * 2 ** 20).length")).result?.result, {
    type: "number",
    value: 11 * 2 ** 20,
    description: String(11 * 2 ** 20),
  });
  const picture = (await evaluate("'x'.repeat(11 * 2 ** 20)")).result?.result as { value: string };
  assert.equal(picture.value.length, 11 * 2 ** 20);
});

test("a world created after a ref was installed gets the ref before the script can use it", async () => {
  const attached = received.find(({ method }) => method === "Target.attachedToTarget");
  const sessionId = String(attached?.params?.sessionId);
  const devtools = await browser.live.context.newCDPSession(browser.live.page());
  const { frameTree } = await devtools.send("Page.getFrameTree");
  const { root } = await devtools.send("DOM.getDocument", { depth: 2 });
  const { backendNodeId = assert.fail("the document is empty") } = root.children?.[0] ?? {};
  const { id: frameId } = frameTree.frame;
  relay.installRef("e1", async () => ({ frameId, backendNodeId }));
  const worldName = "__playwright_utility_world_of_a_script";
  const world = await ask("Page.createIsolatedWorld", { frameId, worldName }, sessionId);
  const contextId = Number(world.result?.executionContextId);
  const expression = "globalThis.agentSessionRefs?.get('e1') === document.documentElement";
  const seen = await ask("Runtime.evaluate", { expression, contextId }, sessionId);
  assert.deepEqual(seen.result?.result, { type: "boolean", value: true });
  await devtools.detach();
});

test("the script can use only DevTools sessions that it was shown", async () => {
  const foreign = await browser.live.context.newPage();
  const session = await browser.live.context.newCDPSession(foreign);
  const { targetInfo } = await session.send("Target.getTargetInfo");
  for (const sessionId of ["unknown", targetInfo.targetId, "constructor"]) {
    assert.match(
      (await ask("Runtime.evaluate", { expression: "1" }, sessionId)).error?.message ?? "",
      /No such session/,
    );
  }
  assert.match(
    (await ask("Target.closeTarget", { targetId: targetInfo.targetId })).error?.message ?? "",
    /No such target/,
  );
  assert.match(
    (await ask("Target.detachFromTarget", { sessionId: "x" })).error?.message ?? "",
    /No such session/,
  );
  await foreign.close();
});

test("the script can see and use the page's main world, but no foreign isolated world", async () => {
  const own = await browser.live.context.newCDPSession(browser.live.page());
  const { frameTree } = await own.send("Page.getFrameTree");
  const overlay = await own.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
    worldName: "overlay",
  });
  const shown = await receive(({ method }) => method === "Target.attachedToTarget");
  const sessionId = String(shown.params?.sessionId);
  await ask("Runtime.enable", {}, sessionId);
  const names = received
    .filter(({ method }) => method === "Runtime.executionContextCreated")
    .map(({ params }) => (params as { context: { name: string } }).context.name);
  assert.ok(names.includes(""));
  assert.ok(!names.includes("overlay"));
  const contextId = overlay.executionContextId;
  for (const [method, params] of [
    ["Runtime.evaluate", { expression: "1", contextId }],
    ["Runtime.callFunctionOn", { functionDeclaration: "() => 1", executionContextId: contextId }],
  ] as const) {
    assert.match((await ask(method, params, sessionId)).error?.message ?? "", /No such context/);
  }
  const answer = await ask("Runtime.evaluate", { expression: "document.title" }, sessionId);
  assert.deepEqual(answer.result?.result, { type: "string", value: "Page" });
});

test("malformed messages are ignored", async () => {
  for (const message of [null, 1, "x", [], {}, { id: "1", method: "Browser.close" }, { id: 1, method: 2 }]) {
    relay.fromScript(message);
  }
  assert.equal((await ask("Browser.getVersion")).error, undefined);
});

test("pointer moves and presses of a script are reported with their position, and key input without", async () => {
  await ask("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
  const attached = await receive(({ method }) => method === "Target.attachedToTarget");
  const sessionId = String(attached.params?.sessionId);
  const mouse = { x: 12, y: 34, button: "left", clickCount: 1 };
  for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
    await ask("Input.dispatchMouseEvent", { type, ...mouse }, sessionId);
  await ask("Input.insertText", { text: "x" }, sessionId);
  assert.deepEqual(inputs, [{ kind: "move", x: 12, y: 34 }, { kind: "down", x: 12, y: 34 }, undefined]);
});
