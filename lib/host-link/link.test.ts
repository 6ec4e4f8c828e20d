import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { WebSocket } from "ws";
import { createLink, type Link } from "./link.ts";
import { linkPath, MESSAGE_BYTES_MAX, PROTOCOL_VERSION } from "./link-message.ts";
import { type LinkListener, listenForLinks } from "./listen-for-links.ts";
import { OtherVersionError, openLink } from "./open-link.ts";

type HostCalls = {
  echo: { args: unknown; result: unknown };
  fail: { args: unknown; result: never };
  reply: { args: "key" | "error" | "nothing"; result: unknown };
  count: { args: number; result: string; item: number };
  wait: { args: null; result: string };
  callBack: { args: string; result: string };
};
type ServiceCalls = { greet: { args: string; result: string } };

const logger = { debug() {}, info() {}, warn() {}, error() {} };
const TOKEN = "a token";
const otherVersions: number[] = [];
const aborted: unknown[] = [];
const sockets: WebSocket[] = [];
let listener: LinkListener;
let begun = Promise.withResolvers<void>();

before(async () => {
  listener = await listenForLinks({
    address: { host: "127.0.0.1", port: 0 },
    token: TOKEN,
    identity: { id: "bh_abcdefghijkl", places: 4 },
    onOtherVersion: (protocol) => otherVersions.push(protocol),
    onSocket(socket) {
      sockets.push(socket);
      const service: Link<ServiceCalls> = createLink<ServiceCalls, HostCalls>(
        socket,
        {
          echo: async (args) => args,
          async fail() {
            throw new TypeError("no such page");
          },
          async reply(kind) {
            if (kind === "key") return JSON.parse('{"__proto__": 1}');
            if (kind === "nothing") throw Object.create(null);
            const error = new Error("x".repeat(MESSAGE_BYTES_MAX + 1));
            error.name = "y".repeat(1_000);
            throw error;
          },
          async count(to, { send }) {
            for (let each = 1; each <= to; each += 1) await send(each);
            return "counted";
          },
          wait: (_, { signal, named }) =>
            new Promise((resolve, reject) => {
              signal.addEventListener("abort", () => {
                aborted.push(signal.reason);
                reject(signal.reason);
              });
              named("hurry").addEventListener("abort", () => resolve("hurried"));
              begun.resolve();
            }),
          callBack: async (name) => service.call("greet", name),
        },
        logger,
      );
    },
  });
});
after(() => listener.close());

const connect = (token = TOKEN) =>
  openLink<HostCalls, ServiceCalls>(
    { url: `ws://127.0.0.1:${listener.port}`, token },
    { greet: async (name) => `hello ${name}` },
    logger,
  );

test("values cross the link: bytes, dates, nested objects; undefined fields are left out", async () => {
  const link = await connect();
  const value = { bytes: new Uint8Array([0, 255]), at: new Date(5), list: [1, "two", null], none: undefined };
  const echoed = (await link.call("echo", value)) as typeof value;
  assert.deepEqual([...echoed.bytes], [0, 255]);
  assert.deepEqual([echoed.at, echoed.list, "none" in echoed], [new Date(5), [1, "two", null], false]);
  assert.equal(await link.call("callBack", "Ada"), "hello Ada");
  link.close("the test is over");
});

test("an error keeps its name and message, items arrive in order, and an unknown call is an error", async () => {
  const link = await connect();
  await assert.rejects(link.call("fail", null), { name: "TypeError", message: "no such page" });
  const items: number[] = [];
  assert.equal(await link.call("count", 100, { onItem: (item) => items.push(item) }), "counted");
  assert.deepEqual(
    items,
    Array.from({ length: 100 }, (_, index) => index + 1),
  );
  const untyped = link as unknown as Link<{ toString: { args: null; result: null } }>;
  await assert.rejects(untyped.call("toString", null), /there is no call toString/);
  link.close("the test is over");
});

test("a call is cancelled with the caller's reason, and a named signal reaches its handler", async () => {
  const link = await connect();
  const stop = new AbortController();
  begun = Promise.withResolvers();
  const waiting = link.call("wait", null, { signal: stop.signal });
  await begun.promise;
  stop.abort(new Error("the turn was stopped"));
  await assert.rejects(waiting, /the turn was stopped/);
  assert.match(String(aborted.at(-1)), /the turn was stopped/);
  const hurry = new AbortController();
  begun = Promise.withResolvers();
  const hurried = link.call("wait", null, { named: { hurry: hurry.signal } });
  await begun.promise;
  hurry.abort();
  assert.equal(await hurried, "hurried");
  link.close("the test is over");
});

test("when the link ends, open calls fail at one end and are aborted at the other", async () => {
  const link = await connect();
  begun = Promise.withResolvers();
  const waiting = link.call("wait", null);
  await begun.promise;
  const abortedBefore = aborted.length;
  link.close("the test is over");
  await assert.rejects(waiting, { name: "LinkEndedError" });
  assert.equal(await link.ended, "the test is over");
  while (aborted.length === abortedBefore) await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(link.call("echo", 1), /cannot be reached/);
});

test("a message that is too large fails its call only", async () => {
  const link = await connect();
  await assert.rejects(link.call("echo", new Uint8Array(81 * 2 ** 20)), /too much for one message/);
  assert.equal(await link.call("echo", "still open"), "still open");
  link.close("the test is over");
});

test("values and errors that cannot cross the link fail their call only", async () => {
  const link = await connect();
  const polluted = JSON.parse('{"a": {"__proto__": 1}}');
  await assert.rejects(link.call("echo", polluted), /__proto__/);
  await assert.rejects(link.call("reply", "key"), /__proto__/);
  await assert.rejects(link.call("reply", "nothing"), /an error without a message/);
  await assert.rejects(
    link.call("reply", "error"),
    ({ name, message }: Error) => name.length <= 100 && message.length <= 50_000,
  );
  const text = "\u00a9__proto__";
  assert.equal(await link.call("echo", text), text);
  link.close("the test is over");
});

test("an end that does not read is disconnected when more than 160 MiB wait for it", async () => {
  const link = await connect();
  const remote = sockets.at(-1);
  assert.ok(remote);
  remote.pause();
  const file = new Uint8Array(70 * 2 ** 20);
  const calls = Promise.allSettled([1, 2, 3, 4].map(() => link.call("echo", file)));
  assert.equal(link.isOpen(), false);
  assert.deepEqual(new Set((await calls).map(({ status }) => status)), new Set(["rejected"]));
});

test("a wrong token, another version and data that is no message are refused", async () => {
  await assert.rejects(connect("another token"), /answered 401/);
  const other = new WebSocket(`ws://127.0.0.1:${listener.port}${linkPath(PROTOCOL_VERSION + 1)}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  await new Promise((resolve) => other.once("error", resolve));
  assert.deepEqual(otherVersions, [PROTOCOL_VERSION + 1]);
  const raw = new WebSocket(`ws://127.0.0.1:${listener.port}${linkPath(PROTOCOL_VERSION)}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  await new Promise((resolve) => raw.once("open", resolve));
  raw.send("no message");
  await new Promise((resolve) => raw.once("close", resolve));
  assert.ok(OtherVersionError.prototype instanceof Error);
});
