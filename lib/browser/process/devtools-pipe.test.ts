import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import type { DevtoolsMessage } from "./devtools-connection.ts";
import { openDevtoolsPipe } from "./devtools-pipe.ts";

type Command = DevtoolsMessage & { id: number; method: string };

/** The id of the last command that Playwright sends in a test. The fake browser answers it after everything else. */
const LAST_ID = 999;

/**
 * Fakes the browser's end of the pipes. Answers a command with the result of `answer`. If `answer` returns undefined,
 * does not answer the command. New DevTools sessions get the ids `B1`, `B2` and so on.
 */
function fakeBrowser(answer: (command: Command) => object | undefined = () => ({})) {
  const [commands, answers] = [new PassThrough(), new PassThrough()];
  const received: Command[] = [];
  let connections = 0;
  const say = (message: object) => answers.write(`${JSON.stringify(message)}\0`);
  commands.on("data", (chunk: Buffer) => {
    for (const text of chunk.toString().split("\0").filter(Boolean)) {
      const command = JSON.parse(text) as Command;
      if (command.id === LAST_ID) {
        say({ id: LAST_ID, result: {} });
        continue;
      }
      received.push(command);
      const isNew = command.method === "Target.attachToBrowserTarget";
      if (isNew) connections += 1;
      const sessionId = `B${connections}`;
      if (isNew)
        say({ method: "Target.attachedToTarget", params: { sessionId, targetInfo: { type: "browser" } } });
      const { id, sessionId: of } = command;
      const result = isNew ? { sessionId } : answer(command);
      if (result) say({ id, result, ...(of && { sessionId: of }) });
    }
  });
  const pipe = openDevtoolsPipe(commands, answers);
  const toPlaywright: object[] = [];
  const transport = pipe.playwright;
  const settled = Promise.withResolvers<void>();
  transport.onmessage = (message) => {
    if ((message as DevtoolsMessage).id === LAST_ID) settled.resolve();
    else toPlaywright.push(message);
  };
  /** Resolves when all messages that were written before this call have been received. */
  const settle = () => {
    transport.send({ id: LAST_ID, method: "Test.last" });
    return settled.promise;
  };
  const pauseReading = () => void commands.pause();
  return { pipe, transport, toPlaywright, received, answers, say, settle, pauseReading };
}

async function connect({ pipe }: ReturnType<typeof fakeBrowser>) {
  const events: DevtoolsMessage[] = [];
  let closes = 0;
  const connection = await pipe.open(1_000, {
    onEvent: (event) => void events.push(event),
    onClose() {
      closes += 1;
    },
  });
  return { ...connection, events, closes: () => closes };
}

test("messages are split at their zero bytes, whatever the chunks", async () => {
  const browser = fakeBrowser();
  const bytes = Buffer.from(
    `${JSON.stringify({ method: "a", params: { text: "ä\u0001" } })}\0${JSON.stringify({ method: "b" })}\0`,
  );
  for (const byte of bytes) browser.answers.write(Buffer.from([byte]));
  browser.answers.write(Buffer.concat([bytes, bytes]));
  await browser.settle();
  assert.deepEqual(
    browser.toPlaywright.map((message) => (message as DevtoolsMessage).method),
    ["a", "b", "a", "b", "a", "b"],
  );
  assert.deepEqual(browser.toPlaywright[0], { method: "a", params: { text: "ä\u0001" } });
});

test("each connection gets its own answers and events, and Playwright gets none of them", async () => {
  const browser = fakeBrowser(({ method, params }) => ({ of: method, ...params }));
  await browser.pipe.ready();
  const [one, two] = [await connect(browser), await connect(browser)];
  browser.transport.send({ id: 1, method: "Playwright.own" });
  assert.deepEqual(await one.ask("Some.thing", { n: 1 }), { of: "Some.thing", n: 1 });
  assert.deepEqual(await two.ask("Some.thing", { n: 2 }), { of: "Some.thing", n: 2 });
  assert.deepEqual(
    browser.received.filter(({ method }) => method === "Some.thing").map(({ sessionId }) => sessionId),
    ["B1", "B2"],
  );
  browser.say({ method: "Target.targetCreated", sessionId: "B1" });
  browser.say({ method: "Target.attachedToTarget", sessionId: "B2", params: { sessionId: "S2" } });
  browser.say({ method: "Page.loaded", sessionId: "S2" });
  browser.say({ method: "Target.attachedToTarget", sessionId: "S2", params: { sessionId: "F2" } });
  browser.say({ method: "Page.loaded", sessionId: "F2" });
  browser.say({ method: "Page.loaded", sessionId: "playwright" });
  await browser.settle();
  assert.deepEqual(one.events, [{ method: "Target.targetCreated" }]);
  assert.deepEqual(
    two.events.map(({ method, sessionId }) => [method, sessionId]),
    [
      ["Target.attachedToTarget", undefined],
      ["Page.loaded", "S2"],
      ["Target.attachedToTarget", "S2"],
      ["Page.loaded", "F2"],
    ],
  );
  assert.deepEqual(browser.toPlaywright, [
    { id: 1, result: { of: "Playwright.own" } },
    { method: "Page.loaded", sessionId: "playwright" },
  ]);
});

test("a connection that ends is detached, its open commands fail, and its later messages are dropped", async () => {
  const browser = fakeBrowser(({ method }) => (method === "Some.slow" ? undefined : {}));
  const [one, two] = [await connect(browser), await connect(browser)];
  const open = one.ask("Some.slow", {});
  one.terminate();
  await assert.rejects(open, /The browser is gone/);
  await one.closed;
  assert.deepEqual([one.isOpen(), one.closes(), two.isOpen()], [false, 1, true]);
  await assert.rejects(one.ask("Some.thing", {}), /The browser is gone/);
  browser.say({ method: "Target.targetCreated", sessionId: "B1" });
  browser.say({ method: "Target.detachedFromTarget", params: { sessionId: "B1" } });
  await browser.settle();
  assert.deepEqual(browser.received.at(-1)?.params, { sessionId: "B1" });
  assert.deepEqual([one.events, browser.toPlaywright], [[], []]);
});

test("a huge answer for a connection becomes an error, a huge event is dropped; Playwright gets both", async () => {
  const large = "x".repeat(13 * 2 ** 20);
  const browser = fakeBrowser(({ method }) => (method === "Some.large" ? { large } : {}));
  const one = await connect(browser);
  await assert.rejects(one.ask("Some.large", {}), /larger than 12 MiB; ask for less/);
  browser.say({ method: "Page.large", params: { large }, sessionId: "B1" });
  browser.say({ method: "Page.large", params: { large }, sessionId: "playwright" });
  browser.transport.send({ id: 7, method: "Some.large" });
  await browser.settle();
  assert.deepEqual(one.events, []);
  assert.deepEqual(
    browser.toPlaywright.map(
      (message) => (message as DevtoolsMessage).id ?? (message as DevtoolsMessage).method,
    ),
    ["Page.large", 7],
  );
});

test("a huge event whose size the page decides does not reach Playwright", async () => {
  const browser = fakeBrowser();
  const said = "x".repeat(13 * 2 ** 20);
  for (const method of ["Runtime.consoleAPICalled", "Network.webSocketFrameReceived", "Page.large"])
    browser.say({ method, params: { said }, sessionId: "playwright" });
  browser.say({ method: "Runtime.consoleAPICalled", params: { said: "short" }, sessionId: "playwright" });
  await browser.settle();
  assert.deepEqual(
    browser.toPlaywright.map((message) => (message as DevtoolsMessage).method),
    ["Page.large", "Runtime.consoleAPICalled"],
  );
});

test("a message of more than 256 MiB ends the connections", async () => {
  const browser = fakeBrowser();
  const one = await connect(browser);
  const part = Buffer.alloc(2 ** 20, "x");
  for (let mebibytes = 0; mebibytes < 256; mebibytes++) browser.answers.write(part);
  while (browser.answers.writableLength + browser.answers.readableLength > 0) await new Promise(setImmediate);
  assert.ok(one.isOpen());
  browser.answers.write("x");
  await one.closed;
  assert.deepEqual([one.closes(), browser.answers.destroyed], [1, true]);
});

test("a connection that leaves 10,000 commands unanswered gets errors, and others are not affected", async () => {
  const browser = fakeBrowser(({ method }) => (method === "Some.never" ? undefined : {}));
  const [one, two] = [await connect(browser), await connect(browser)];
  const answers: DevtoolsMessage[] = [];
  for (let count = 0; count < 10_001; count += 1)
    one.send({ method: "Some.never" }, (answer) => void answers.push(answer));
  assert.equal(answers.length, 1);
  assert.match(answers[0]?.error?.message ?? "", /10000 commands are unanswered/);
  assert.deepEqual(await two.ask("Some.thing", {}), {});
});

test("a browser that leaves more than 64 MiB of commands unread ends the connections", async () => {
  const browser = fakeBrowser(() => undefined);
  const one = await connect(browser);
  browser.pauseReading();
  const large = "x".repeat(8 * 2 ** 20);
  for (let count = 0; count < 9 && one.isOpen(); count += 1) one.send({ method: large }, () => {});
  await one.closed;
  assert.equal(one.closes(), 1);
});

test("an error in a connection's listener is reported to the owner of the browser", async () => {
  const browser = fakeBrowser();
  const reported = Promise.withResolvers<unknown>();
  browser.pipe.onError = reported.resolve;
  await browser.pipe.open(1_000, {
    onEvent() {
      throw new TypeError("a mistake of ours");
    },
    onClose() {},
  });
  browser.say({ method: "Target.targetCreated", sessionId: "B1" });
  assert.match(String(await reported.promise), /a mistake of ours/);
});

test("the end of the browser ends every connection once", async () => {
  const browser = fakeBrowser();
  const one = await connect(browser);
  let isPlaywrightTold = false;
  browser.transport.onclose = () => {
    isPlaywrightTold = true;
  };
  browser.answers.end();
  await one.closed;
  assert.deepEqual([one.closes(), one.isOpen(), isPlaywrightTold], [1, false, true]);
  await assert.rejects(browser.pipe.ready(), /The browser is gone/);
  await assert.rejects(connect(browser), /The browser is gone/);
});

test("invalid JSON ends the connections, because it cannot come from the browser", async () => {
  const browser = fakeBrowser();
  const one = await connect(browser);
  browser.answers.write("no message\0");
  await one.closed;
  assert.equal(one.closes(), 1);
});
