import assert from "node:assert/strict";
import { test } from "node:test";
import type { Link } from "#lib/host-link/link.ts";
import { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { Logger } from "#lib/log/logger.ts";
import type { ServiceCalls, UnrecordedSessions } from "../host-calls.ts";
import { createAttachedServices } from "./attached-services.ts";
import { createHostLease } from "./host-lease.ts";
import { createHostLog } from "./host-log.ts";
import { createNewestFirst } from "./newest-first.ts";
import { createServiceOrigins } from "./service-origins.ts";
import { createStderrLog } from "./stderr-log.ts";

type Answer = (method: string, args: unknown) => Promise<unknown>;

/** The link of a process that answers with a function. */
function openTestLink(answer: Answer) {
  const ended = Promise.withResolvers<string>();
  let isOpen = true;
  // The cast is safe: a test answers only what it asks for.
  const call = answer as Link<ServiceCalls>["call"];
  const link: Link<ServiceCalls> = {
    call,
    isOpen: () => isOpen,
    answers: async () => isOpen,
    ended: ended.promise,
    close(reason) {
      isOpen = false;
      ended.resolve(reason);
    },
  };
  return link;
}
const hangUp = () => Promise.reject(new LinkEndedError("the process was killed"));
const noAnswer = () => new Promise(() => {});

test("the lease is compared at each call, and a host that was alone works again after a renewal", async () => {
  let now = 0;
  let since: number | undefined;
  const suspended: string[] = [];
  const unrecorded: UnrecordedSessions[] = [];
  const lease = createHostLease({
    services: {
      count: () => 1,
      aloneSinceMs: () => since,
      // The cast is safe: the lease asks for nothing else.
      ask: (async () => ({ leaseMs: 10_000, elsewhere: [], ended: ["ses_b"] })) as never,
    },
    readLoad: async () => ({ sessionIds: ["ses_a", "ses_b"], running: 2, places: 2 }),
    onSuspended: (reason) => suspended.push(reason),
    onUnrecorded: async ({ elsewhere, ended }) => void unrecorded.push({ elsewhere, ended }),
    onLost: () => assert.fail(),
    logger: silent,
    nowMs: () => now,
  });
  lease.check();
  // As after a SIGSTOP: no timer has fired yet.
  now = 10_000;
  assert.throws(() => lease.check(), /has no connection to the service/);
  assert.equal(suspended.length, 1);
  await lease.renewNow();
  lease.check();
  assert.deepEqual(unrecorded, [{ elsewhere: [], ended: ["ses_b"] }]);
  since = now;
  now += 5_001;
  assert.throws(() => lease.check(), /has no connection to the service/);
  since = undefined;
  assert.throws(() => lease.check(), /has no connection to the service/);
  await lease.renewNow();
  lease.check();
  lease.close();
});

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

test("a call to the service is repeated at another process, and only a bounded number waits for one", async () => {
  const services = createAttachedServices(60_000, () => {});
  const first = openTestLink(hangUp);
  services.add(first);
  const waiting = Promise.allSettled(
    Array.from({ length: 150 }, () => services.ask("readShown", { sessionId: "ses_a" })),
  );
  first.close("the process was killed");
  await new Promise(setImmediate);
  services.add(openTestLink(async () => "shown"));
  const outcomes = await waiting;
  const refused = outcomes.filter(({ status }) => status === "rejected");
  assert.deepEqual([refused.length, outcomes.length - refused.length], [50, 100]);
});

test("a host that was alone for too long does not wait for a process again", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  const services = createAttachedServices(
    60_000,
    () => {},
    () => now,
  );
  const ask = () => services.ask("readShown", { sessionId: "ses_a" });
  const link = openTestLink(hangUp);
  services.add(link);
  link.close("the process was killed");
  await link.ended;
  now = 20_000;
  const waiting = assert.rejects(ask(), /no process of the service is connected/);
  t.mock.timers.tick(40_000);
  await waiting;
  now = 60_000;
  await assert.rejects(ask(), /no process of the service is connected/);
  services.add(openTestLink(async () => "shown"));
  assert.equal(await ask(), "shown");
});

test("a process that leaves is not counted, and gets calls only if it is the last one", async () => {
  const services = createAttachedServices(60_000, () => {});
  const [leaving, staying] = [openTestLink(async () => "leaving"), openTestLink(async () => "staying")];
  services.add(staying);
  services.add(leaving);
  services.noteLeaving(leaving);
  assert.equal(await services.ask("readShown", { sessionId: "ses_a" }), "staying");
  services.noteLeaving(staying);
  assert.deepEqual([services.count(), services.countStaying()], [2, 0]);
  assert.equal(await services.ask("readShown", { sessionId: "ses_a" }), "leaving");
});

test("log messages of a flood are dropped and counted, and their fields are cut", async () => {
  const services = createAttachedServices(60_000, () => {});
  const sent: { fields: Record<string, unknown> }[] = [];
  let reply = Promise.withResolvers<null>();
  services.add(
    openTestLink((_, args) => {
      sent.push(args as (typeof sent)[number]);
      return reply.promise;
    }),
  );
  const log = createHostLog(services, silent);
  const cycle: Record<string, unknown> = {};
  cycle.itself = cycle;
  log.warn({ err: new Error("x".repeat(100_000)), cycle, run: () => {} }, "a page failed");
  for (let each = 0; each < 500; each += 1) log.warn({}, "a page failed");
  assert.equal(sent.length, 100);
  assert.ok(JSON.stringify(sent[0]).length < 10_000);
  assert.equal(sent[0]?.fields.cycle, "a value that cannot be logged");
  reply.resolve(null);
  await new Promise(setImmediate);
  reply = Promise.withResolvers();
  log.warn({}, "the next");
  assert.deepEqual(sent.at(-1)?.fields, { dropped: 401 });
});

test("a viewer that reads slowly gets only the newest frame and the newest pointer", async () => {
  const sent: unknown[] = [];
  let written = Promise.withResolvers<void>();
  const newest = createNewestFirst((item) => {
    sent.push(item);
    return written.promise;
  });
  // The casts are safe: items are passed on as they are.
  for (const each of [1, 2, 3]) {
    newest.frame(each as never);
    newest.pointer(each as never);
  }
  assert.deepEqual(sent, [{ frame: 1 }]);
  const before = written;
  written = Promise.withResolvers();
  before.resolve();
  await new Promise(setImmediate);
  assert.deepEqual(sent.slice(1), [{ pointer: 3 }, { frame: 3 }]);
});

test("origins of processes that are gone come last, and only they are forgotten", async () => {
  const origins = createServiceOrigins();
  const link = openTestLink(noAnswer);
  const at = (port: number) => ({
    origin: `http://127.0.0.1:${port}`,
    publicOrigins: ["https://example.com"],
  });
  origins.add(link, at(1));
  origins.add(openTestLink(noAnswer), at(2));
  link.close("the process has ended");
  await new Promise(setImmediate);
  assert.deepEqual(origins.list(), [at(2), at(1)]);
  for (let port = 3; port <= 65; port += 1) origins.add(openTestLink(noAnswer), at(port));
  assert.equal(origins.list().length, 64);
  assert.ok(!origins.list().some(({ origin }) => origin === at(1).origin));
  assert.throws(() => origins.add(openTestLink(noAnswer), at(66)), /64 different origins/);
  origins.add(openTestLink(noAnswer), at(65));
});

test("the log of a host without a process has a rate, names what it dropped, and is never silent permanently", () => {
  let now = 0;
  const lines: string[] = [];
  const log = createStderrLog(
    (line) => lines.push(line),
    () => now,
  );
  const logMany = () => {
    for (let each = 0; each < 20_000; each += 1)
      log.warn({ each, err: new Error("x") }, "a page did something");
  };
  logMany();
  assert.equal(lines.length, 200);
  now += 60_000;
  logMany();
  assert.equal(lines.length, 210);
  const { dropped, err } = JSON.parse(lines[200] ?? "");
  assert.deepEqual([dropped, err], [19_800, "x"]);
  now += 24 * 3_600_000;
  logMany();
  assert.equal(lines.length, 410);
  now += 6_000;
  log.error({ text: '"'.repeat(100_000) }, "long");
  assert.ok((lines.at(-1) ?? "").length < 10_000);
  assert.match(JSON.parse(lines.at(-1) ?? "").fields, /^\{"text"/);
});
