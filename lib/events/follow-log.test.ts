import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMemoryBus } from "./bus/local-bus.ts";
import type { MessageDelta, StoredEvent } from "./event.ts";
import { followLog, type LogFollower } from "./follow-log.ts";

/**
 * Creates a log in memory. It stores and publishes in separate steps, so a test can publish events late or out of
 * order.
 */
function createLog() {
  const bus = createMemoryBus();
  const stored: StoredEvent[] = [];
  let gate = Promise.resolve();
  let isGone = false;
  const log = {
    subscribe: bus.subscribe,
    readUnfinished: bus.readUnfinished,
  };
  const publish = (event: StoredEvent) => bus.publish("ses_a", { type: "event", event });
  const store = (kind: StoredEvent["kind"] = "browser.status", fields: object = {}): StoredEvent => {
    const seq = stored.length + 1;
    const body = JSON.stringify({ kind, seq, ...fields });
    const event: StoredEvent = { sessionId: "ses_a", seq, kind, requestId: null, runId: null, body };
    stored.push(event);
    return event;
  };
  return {
    stored,
    store,
    publish,
    recheck: () => bus.recheck("ses_a"),
    append: (kind?: StoredEvent["kind"], fields?: object) => publish(store(kind, fields)),
    write(text: string, offset: number, messageId = "msg_a") {
      const delta: MessageDelta = {
        kind: "message.delta",
        timestamp: "",
        sessionId: "ses_a",
        requestId: "req_a",
        runId: "run_a",
        source: "api",
        messageId,
        part: "text",
        attempt: 1,
        offset,
        text,
      };
      bus.publish("ses_a", { type: "delta", delta });
    },
    holdReads() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
    remove() {
      isGone = true;
    },
    follow: (after = 0) =>
      followLog(log, {
        sessionId: "ses_a",
        after,
        async readPage(from, limit) {
          const events = stored.filter(({ seq }) => seq > from).slice(0, limit);
          const page = { events, lastSeq: stored.length, ...(isGone && { isGone }) };
          await gate;
          return page;
        },
      }),
  };
}

/** Reads until at least `count` items have arrived. @returns the number of each event and the text of each chunk. */
async function take(follower: LogFollower, count: number): Promise<(number | string)[]> {
  const received: (number | string)[] = [];
  while (received.length < count) {
    const batch = await follower.next();
    if (!batch) break;
    for (const item of batch.items) received.push(item.type === "event" ? item.event.seq : item.delta.text);
  }
  return received;
}

describe("a follower of the log", () => {
  test("replays stored events, then delivers published ones", async () => {
    const log = createLog();
    log.append();
    log.append();
    const follower = log.follow(1);
    assert.deepEqual(await take(follower, 1), [2]);
    log.append();
    assert.deepEqual(await follower.next(), {
      items: [{ type: "event", event: log.stored[2] }],
      isReplay: false,
    });
    follower.stop();
  });

  test("reads the log after a gap between published events, and repeats none", async () => {
    const log = createLog();
    const follower = log.follow();
    log.append();
    assert.deepEqual(await take(follower, 1), [1]);
    const [second, third] = [log.store(), log.store()];
    log.publish(third);
    log.publish(second);
    assert.deepEqual(await take(follower, 2), [2, 3]);
    log.append();
    assert.deepEqual(await take(follower, 1), [4]);
    follower.stop();
  });

  test("delivers events that are published while the log is read", async () => {
    const log = createLog();
    log.append();
    const letRead = log.holdReads();
    const follower = log.follow();
    const taking = take(follower, 4);
    log.append();
    log.store();
    log.recheck();
    log.append();
    letRead();
    assert.deepEqual(await taking, [1, 2, 3, 4]);
    follower.stop();
  });

  test("drops the queue of a reader that falls behind, and continues from the log with the message so far", async () => {
    const log = createLog();
    const follower = log.follow();
    log.append();
    assert.deepEqual(await take(follower, 1), [1]);
    for (let count = 0; count < 400; count++) log.append();
    for (let count = 0; count < 200; count++) log.write("x", count);
    const numbers = Array.from({ length: 400 }, (_, index) => index + 2);
    assert.deepEqual(await take(follower, 401), [...numbers, "x".repeat(200)]);
    follower.stop();
  });

  test("drops the queued pieces of a completed message, and of no other message", async () => {
    const log = createLog();
    const follower = log.follow();
    log.append();
    assert.deepEqual(await take(follower, 1), [1]);
    log.write("It ", 0);
    log.append("message.completed", { message: { id: "msg_of_a_person" } });
    assert.deepEqual(await take(follower, 2), ["It ", 2]);
    log.write("goes", 3);
    log.append("message.completed", { message: { id: "msg_a" } });
    assert.deepEqual(await take(follower, 1), [3]);
    follower.stop();
  });

  test("ends when stopped while waiting or reading, and when the session is deleted", async () => {
    const log = createLog();
    const waiting = log.follow();
    const end = waiting.next();
    await new Promise((resolve) => setImmediate(resolve));
    waiting.stop();
    assert.equal(await end, undefined);

    const letRead = log.holdReads();
    const reading = log.follow();
    log.append();
    const other = reading.next();
    reading.stop();
    letRead();
    assert.equal(await other, undefined);

    log.remove();
    assert.equal(await log.follow().next(), undefined);
  });
});
