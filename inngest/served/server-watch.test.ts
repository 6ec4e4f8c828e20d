import assert from "node:assert/strict";
import { test } from "node:test";
import type { ServerAnswer } from "./ask-server.ts";
import { createServerWatch } from "./server-watch.ts";

/** Opens a watch on a server that gives these answers, one per question, and then repeats the last one. */
function openWatch(answers: ServerAnswer[], isRegistered = true, accepts = true) {
  const counts = { registrations: 0, warnings: 0 };
  const watch = createServerWatch({
    ask: async () => (answers.length > 1 ? answers.shift() : answers[0]) ?? "unclear",
    async register() {
      counts.registrations += 1;
      return accepts;
    },
    logger: {
      info: () => {},
      warn() {
        counts.warnings += 1;
      },
    },
    isRegistered,
    nowMs: () => 0,
  });
  return { watch, counts };
}

test("functions are registered at the start, and again when the server has forgotten them", async () => {
  const { watch, counts } = openWatch(
    ["unregistered", "registered", "registered", "unregistered", "registered"],
    false,
  );
  await watch.check();
  assert.deepEqual([watch.isRegistered(), counts.registrations], [true, 1]);
  await watch.check();
  assert.equal(counts.registrations, 1, "a server that knows the functions is left alone");
  assert.equal(watch.hasForgottenWithin(1), false);
  await watch.check();
  assert.deepEqual([watch.hasForgottenWithin(1), counts.registrations], [true, 2]);
});

test("an outage is logged once, and only a server that does not know the functions gets them afterwards", async () => {
  for (const [afterwards, registrations] of [
    ["registered", 0],
    ["unregistered", 1],
    ["unclear", 1],
  ] as const) {
    const { watch, counts } = openWatch(["unreachable", "unreachable", afterwards]);
    await watch.check();
    await watch.check();
    assert.deepEqual([watch.isReachable(), watch.isRegistered(), counts.warnings], [false, true, 1]);
    await watch.check();
    assert.deepEqual([watch.isReachable(), watch.isRegistered()], [true, true], afterwards);
    assert.equal(counts.registrations, registrations, afterwards);
  }
});

test("a server that does not tell gets the functions again only if they may be lost", async () => {
  const { watch, counts } = openWatch(["unclear"]);
  await watch.check();
  assert.equal(counts.registrations, 0);
  await watch.check(true);
  assert.equal(counts.registrations, 1);
});

test("a refused registration is repeated with the next check", async () => {
  const { watch, counts } = openWatch(["unregistered"], true, false);
  await watch.check();
  await watch.check();
  assert.deepEqual([watch.isRegistered(), counts.registrations], [false, 2]);
});

test("a server that denies what it has accepted gets no further registration", async () => {
  const { watch, counts } = openWatch(["unregistered"]);
  for (let check = 0; check < 5; check += 1) await watch.check();
  assert.deepEqual([watch.isRegistered(), counts.registrations], [true, 1]);
});

test("concurrent checks are one, and a recent check is not repeated", async () => {
  const { watch, counts } = openWatch(["unregistered"], true, false);
  await Promise.all([watch.check(), watch.check()]);
  await watch.checkIfOlder(1);
  assert.equal(counts.registrations, 1);
});

test("a failing check does not reject, and the next one asks again", async () => {
  let asked = 0;
  const watch = createServerWatch({
    async ask() {
      asked += 1;
      throw new Error("no answer");
    },
    register: async () => true,
    logger: { info: () => {}, warn: () => {} },
    isRegistered: false,
  });
  await watch.check();
  await watch.check();
  assert.equal(asked, 2);
});
