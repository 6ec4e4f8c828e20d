import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { DevtoolsMessage } from "#lib/browser/process/devtools-connection.ts";
import { startSite, startTestBrowser, type TestBrowser } from "../../test-fixture.ts";
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

/** Makes a world like the overlay's in the page, and attaches to it as the service does. */
async function openForeignWorld() {
  const own = await browser.live.context.newCDPSession(browser.live.page());
  const { frameTree } = await own.send("Page.getFrameTree");
  const frameId = frameTree.frame.id;
  const { executionContextId } = await own.send("Page.createIsolatedWorld", {
    frameId,
    worldName: "overlay",
  });
  const evaluate = (expression: string) =>
    own.send("Runtime.evaluate", { expression, contextId: executionContextId });
  return { own, frameId, contextId: executionContextId, evaluate };
}
async function enableRuntime(): Promise<{ sessionId: string; contextId: number }> {
  const shown = await receive(({ method }) => method === "Target.attachedToTarget");
  const sessionId = String(shown.params?.sessionId);
  await ask("Runtime.enable", {}, sessionId);
  const created = await receive(({ method }) => method === "Runtime.executionContextCreated");
  const { context } = created.params as { context: { id: number } };
  return { sessionId, contextId: context.id };
}
const errorOf = ({ error }: DevtoolsMessage) => error?.message ?? "no error";

test("a command with the script's own context and a foreign one does not run in the foreign one", async () => {
  const { contextId: foreign, evaluate } = await openForeignWorld();
  await evaluate("globalThis.isForeign = true");
  const { sessionId, contextId } = await enableRuntime();
  const functionDeclaration = "() => globalThis.isForeign === true";
  const expression = "globalThis.isForeign === true";
  for (const [method, params] of [
    ["Runtime.callFunctionOn", { functionDeclaration, contextId, executionContextId: foreign }],
    ["Runtime.evaluate", { expression, executionContextId: contextId, contextId: foreign }],
    ["DOM.resolveNode", { backendNodeId: 1, contextId, executionContextId: foreign }],
  ] as const)
    assert.match(errorOf(await ask(method, params, sessionId)), /^No such (context|node)\.$/, method);
  const dropped = await ask(
    "Runtime.evaluate",
    { expression, contextId, executionContextId: foreign },
    sessionId,
  );
  assert.deepEqual(dropped.result?.result, { type: "boolean", value: false });
});

test("a script gets no event and no object of a foreign world", async () => {
  const { sessionId } = await enableRuntime();
  const { evaluate, own } = await openForeignWorld();
  await evaluate(
    "console.log('from the overlay', globalThis); setTimeout(() => { throw new Error('overlay') })",
  );
  await browser.live.page().evaluate("console.log('from the page', document.body)");
  const seen = await receive(
    ({ method, params }) =>
      method === "Runtime.consoleAPICalled" && JSON.stringify(params).includes("from the page"),
  );
  assert.doesNotMatch(JSON.stringify(received), /from the overlay|Error: overlay/);
  // An object of the page's own world can be used.
  const { args } = seen.params as { args: { objectId: string }[] };
  const [, body] = args;
  const described = await ask("DOM.describeNode", { objectId: body?.objectId }, sessionId);
  const { node } = described.result as { node: { localName: string; backendNodeId: number } };
  assert.equal(node.localName, "body");
  const resolve = (backendNodeId: number) => ask("DOM.resolveNode", { backendNodeId }, sessionId);
  assert.equal((await resolve(node.backendNodeId)).error, undefined);
  // Ids that the script guesses, and the ids of nodes that only the service knows.
  const { root } = await own.send("DOM.getDocument");
  for (const guess of [root.backendNodeId, node.backendNodeId + 1])
    assert.equal(errorOf(await resolve(guess)), "No such node.");
  const [isolate] = String(body?.objectId).split(".");
  for (const objectId of [`${isolate}.999999.1`, "1", "", `${body?.objectId}.1`])
    for (const method of ["Runtime.getProperties", "DOM.describeNode", "Runtime.releaseObject"])
      assert.equal(errorOf(await ask(method, { objectId }, sessionId)), "No such object.");
});

test("ids that the script was not shown are refused, of every kind", async () => {
  const { sessionId } = await enableRuntime();
  const foreign = await browser.live.context.newPage();
  const cdp = await browser.live.context.newCDPSession(foreign);
  const { frameTree } = await cdp.send("Page.getFrameTree");
  const frameId = frameTree.frame.id;
  const worldName = "__playwright_utility_world";
  for (const [method, params, reason] of [
    ["Page.navigate", { url: site.url, frameId }, "No such frame."],
    ["Page.createIsolatedWorld", { worldName, frameId }, "No such frame."],
    ["DOM.getFrameOwner", { frameId }, "No such frame."],
    ["Page.navigateToHistoryEntry", { entryId: 1 }, "No such history entry."],
    ["Page.removeScriptToEvaluateOnNewDocument", { identifier: "1" }, "No such init script."],
    ["Network.getResponseBody", { requestId: frameTree.frame.loaderId }, "No such request."],
    ["Fetch.fulfillRequest", { requestId: "interception-job-1.0", responseCode: 200 }, "No such request."],
    ["IO.read", { handle: "blob:00000000-0000-0000-0000-000000000000" }, "No such stream."],
    ["IO.close", { handle: "1" }, "No such stream."],
    ["Runtime.addBinding", { name: "overlayBinding" }, "Scripts make no bindings of other names."],
  ] as const)
    assert.equal(errorOf(await ask(method, params, sessionId)), reason, method);
  await foreign.close();
});

test("a page's call of Playwright's binding is passed only if it is JSON of an object", async () => {
  const { sessionId } = await enableRuntime();
  const name = "__playwright__binding__";
  assert.equal((await ask("Runtime.addBinding", { name }, sessionId)).error, undefined);
  const payloads = ["{", "", "null", "[]", "x", '{"name":"a","seq":1,"serializedArgs":[]}'];
  await browser.live.page().evaluate(
    ([binding, texts]) => {
      for (const text of texts)
        (globalThis as unknown as Record<string, (t: string) => void>)[binding]?.(text);
    },
    [name, payloads] as const,
  );
  const passed = await receive(({ method }) => method === "Runtime.bindingCalled");
  assert.equal(passed.params?.payload, payloads.at(-1));
  await ask("Runtime.evaluate", { expression: "1" }, sessionId);
  assert.equal(received.filter(({ method }) => method === "Runtime.bindingCalled").length, 1);
});

test("an unexpected error in a listener is reported, and is not thrown into the connection", async () => {
  const broken: unknown[] = [];
  const failing = await connectPageRelay({
    openDevtools: browser.live.openDevtools,
    targetId: await browser.live.targetId(),
    toScript() {
      throw new Error("the listener failed");
    },
    onBroken: (error) => {
      broken.push(error instanceof Error && error.message);
      wake();
    },
    onClose: () => {},
  });
  await failing.fromScript({ id: 1, method: "Browser.getVersion" });
  await failing.fromScript({ id: 2, method: "Target.getTargetInfo" });
  await failing.fromScript({ id: 3, method: "Browser.close" });
  while (broken.length < 3)
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  assert.deepEqual(broken, ["the listener failed", "the listener failed", "the listener failed"]);
  await failing.close();
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
