import assert from "node:assert/strict";
import { describe, mock, test } from "node:test";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import type { MessageDelta, StoredEvent } from "#lib/events/event.ts";
import { streamRequest } from "./event-stream.ts";

/** Creates a log in memory whose reads can be delayed. */
function createTestLog() {
  const bus = createMemoryBus();
  const stored: StoredEvent[] = [];
  let gate = Promise.resolve();
  let reads = 0;
  const log: Parameters<typeof streamRequest>[0] = {
    async readPage({ after, requestIds, limit }) {
      reads++;
      const events = stored
        .filter((event) => event.seq > after && requestIds.includes(event.requestId ?? ""))
        .slice(0, limit);
      const lastSeq = stored.at(-1)?.seq ?? 0;
      await gate;
      return { events, lastSeq };
    },
    subscribe: bus.subscribe,
    readUnfinished: bus.readUnfinished,
  };
  return {
    log,
    stored,
    reads: () => reads,
    /** Stores an event, by default of the request `req_a`. If `isAnnounced`, also publishes the event on the bus. */
    append(kind: StoredEvent["kind"], fields: Record<string, unknown> = {}, isAnnounced = true) {
      const seq = stored.length + 1;
      const requestId = "requestId" in fields ? (fields.requestId as string | null) : "req_a";
      const body = JSON.stringify({ kind, seq, requestId, ...fields });
      const event: StoredEvent = { sessionId: "ses_a", seq, kind, requestId, runId: "run_a", body };
      stored.push(event);
      if (isAnnounced) bus.publish("ses_a", { type: "event", event });
    },
    write(text: string, offset: number, fields: Partial<MessageDelta> = {}) {
      const delta: MessageDelta = {
        kind: "message.delta",
        timestamp: "",
        sessionId: "ses_a",
        requestId: "req_a",
        runId: "run_a",
        source: "api",
        messageId: "msg_a",
        part: "text",
        attempt: 1,
        offset,
        text,
        ...fields,
      };
      bus.publish("ses_a", { type: "delta", delta });
    },
    /** Delays reads until the returned function is called. */
    holdReads() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return resolve;
    },
  };
}

const END = { outcome: "succeeded" };
type Rig = ReturnType<typeof createTestLog>;

function open(rig: Rig, after = 0) {
  const gone = new AbortController();
  const stream = streamRequest(rig.log, { sessionId: "ses_a", requestId: "req_a", after }, gone.signal);
  return { gone, reader: stream.pipeThrough(new TextDecoderStream() as never).getReader() };
}
async function readAll({ reader }: ReturnType<typeof open>): Promise<string> {
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
  return text;
}
function parse(text: string): EventSourceMessage[] {
  const events: EventSourceMessage[] = [];
  createParser({ onEvent: (event) => void events.push(event) }).feed(text);
  return events;
}
const describeAll = (text: string) =>
  parse(text).map(({ id, event, data }) => (id ? `${id} ${event}` : `- ${JSON.parse(data).text}`));
/** Waits until all pending microtasks have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("the event stream of a request", () => {
  test("of a finished request replays the same bytes each time, and closes", async () => {
    const rig = createTestLog();
    rig.append("run.started");
    rig.append("browser.status", { requestId: null });
    rig.append("tool.call", { requestId: "req_other" });
    rig.append("run.completed", END);
    const first = await readAll(open(rig));
    assert.deepEqual(describeAll(first), ["1 run.started", "4 run.completed"]);
    assert.match(first, /^retry: 1000\n\nid: 1\nevent: run\.started\ndata: \{/);
    assert.equal(await readAll(open(rig)), first);
    assert.deepEqual(describeAll(await readAll(open(rig, 1))), ["4 run.completed"]);
  });

  test("continues through a retry, and closes after the last run", async () => {
    const rig = createTestLog();
    const reading = readAll(open(rig));
    rig.append("run.started");
    rig.append("run.completed", { outcome: "errored", willRetry: { attempt: 2 } });
    await settle();
    rig.append("run.started");
    rig.append("run.completed", END);
    assert.deepEqual(describeAll(await reading).at(-1), "4 run.completed");
  });

  test("is not closed by values that look like an end", async () => {
    const rig = createTestLog();
    const reading = readAll(open(rig));
    rig.append("run.completed", { outcome: "errored", error: 'no "willRetry"', willRetry: {} });
    rig.append("run.completed", { ...END, deliverable: { value: { willRetry: true } } });
    assert.equal(describeAll(await reading).length, 2);
  });

  test("neither misses nor repeats events that are stored while it reads", async () => {
    const rig = createTestLog();
    rig.append("run.started");
    const release = rig.holdReads();
    const reading = readAll(open(rig));
    await settle();
    rig.append("tool.call");
    rig.append("tool.result");
    release();
    await settle();
    rig.append("run.completed", END);
    assert.deepEqual(describeAll(await reading), [
      "1 run.started",
      "2 tool.call",
      "3 tool.result",
      "4 run.completed",
    ]);
  });

  test("ends if the last event is announced while it reads, even though the read missed it", async () => {
    const rig = createTestLog();
    const release = rig.holdReads();
    const reading = readAll(open(rig));
    await settle();
    rig.append("run.started");
    rig.append("run.completed", END);
    release();
    assert.deepEqual(describeAll(await reading), ["1 run.started", "2 run.completed"]);
    assert.equal(rig.reads(), 1);
  });

  test("reads the log once, however many events follow in order", async () => {
    const rig = createTestLog();
    const reading = readAll(open(rig));
    await settle();
    for (let number = 0; number < 20; number++) {
      rig.append(number % 2 ? "tool.call" : "browser.status", number % 2 ? {} : { requestId: null });
      await settle();
    }
    rig.append("run.completed", END);
    assert.equal(describeAll(await reading).length, 11);
    assert.equal(rig.reads(), 1);
  });

  test("reads from the log the events that the bus announced out of order or not at all", async () => {
    const rig = createTestLog();
    const reading = readAll(open(rig));
    await settle();
    rig.append("run.started", {}, false);
    rig.append("tool.call", {}, false);
    rig.append("run.completed", END);
    assert.deepEqual(describeAll(await reading), ["1 run.started", "2 tool.call", "3 run.completed"]);
  });

  test("pages through a long log", async () => {
    const rig = createTestLog();
    for (let index = 0; index < 1_200; index++) rig.append("tool.call");
    rig.append("run.completed", END);
    const ids = parse(await readAll(open(rig))).map(({ id }) => Number(id));
    assert.deepEqual(
      ids,
      Array.from({ length: 1_201 }, (_, index) => index + 1),
    );
  });

  test("sends a reader that joins during a message its text so far as one delta at offset 0", async () => {
    const rig = createTestLog();
    rig.append("run.started");
    rig.write("Hel", 0);
    rig.write("lo ", 3);
    const late = open(rig);
    await settle();
    rig.write("you", 6);
    await settle();
    rig.append("message.completed");
    rig.append("run.completed", END);
    assert.deepEqual(describeAll(await readAll(late)), [
      "1 run.started",
      "- Hello ",
      "- you",
      "2 message.completed",
      "3 run.completed",
    ]);
  });

  test("does not repeat deltas that were published while the reader joined", async () => {
    const rig = createTestLog();
    rig.write("Hello ", 0);
    const release = rig.holdReads();
    const late = open(rig);
    await settle();
    rig.write("you", 6);
    release();
    await settle();
    rig.append("run.completed", END);
    assert.deepEqual(describeAll(await readAll(late)), ["- Hello you", "1 run.completed"]);
  });

  test("sends no delta of a message after the completed message", async () => {
    const rig = createTestLog();
    const { reader } = open(rig);
    await settle();
    rig.write("Hello", 0);
    rig.append("message.completed", { message: { id: "msg_a" } });
    rig.append("run.completed", END);
    assert.deepEqual(describeAll(await readAll({ reader, gone: new AbortController() })), [
      "1 message.completed",
      "2 run.completed",
    ]);
  });

  test("of a reader that does not read uses no memory, and catches up from the log", async () => {
    const rig = createTestLog();
    const slow = open(rig);
    await settle();
    const before = rig.reads();
    for (let index = 0; index < 2_000; index++) {
      rig.append("tool.call");
      rig.write("x", index);
    }
    await settle();
    assert.ok(rig.reads() - before < 20, "the stream reads only on demand");
    rig.append("run.completed", END);
    const stored = parse(await readAll(slow)).filter(({ id }) => id !== undefined);
    assert.equal(stored.length, 2_001);
  });

  test("sends a comment every 15 s while nothing happens", async () => {
    mock.timers.enable({ apis: ["setInterval"] });
    try {
      const rig = createTestLog();
      const { reader, gone } = open(rig);
      assert.equal((await reader.read()).value, "retry: 1000\n\n");
      mock.timers.tick(14_999);
      mock.timers.tick(1);
      assert.equal((await reader.read()).value, ": keep-alive\n\n");
      gone.abort();
      assert.equal((await reader.read()).done, true);
    } finally {
      mock.timers.reset();
    }
  });

  test("ends when the client disconnects, also if that happened before the stream began", async () => {
    const rig = createTestLog();
    const waiting = open(rig);
    await settle();
    waiting.gone.abort();
    assert.equal(await readAll(waiting), "retry: 1000\n\n");
    const over = AbortSignal.abort();
    const stream = streamRequest(rig.log, { sessionId: "ses_a", requestId: "req_a", after: 0 }, over);
    assert.equal(await new Response(stream).text(), "retry: 1000\n\n");
  });
});

describe("the event stream of a steer", () => {
  const other = { requestId: "req_turn" };
  function follow(rig: Rig, after: number, hasOwnRun: () => boolean) {
    const query = { sessionId: "ses_a", requestId: "req_a", after };
    const joined = { ...other, hasOwnRun: async () => hasOwnRun() };
    const stream = streamRequest(rig.log, { ...query, joined }, new AbortController().signal);
    return {
      gone: new AbortController(),
      reader: stream.pipeThrough(new TextDecoderStream() as never).getReader(),
    };
  }

  test("has the events of the turn it joined, from its acceptance to the end of the turn, including retries", async () => {
    const rig = createTestLog();
    rig.append("run.started", other);
    const reading = readAll(follow(rig, 1, () => false));
    rig.append("turn.steered", other);
    rig.append("run.completed", { ...other, outcome: "errored", willRetry: { attempt: 2 } });
    rig.append("tool.call", { requestId: "req_third" });
    await settle();
    rig.append("run.started", other);
    rig.append("run.completed", { ...other, ...END });
    const kinds = ["2 turn.steered", "3 run.completed", "5 run.started", "6 run.completed"];
    assert.deepEqual(describeAll(await reading), kinds);
    assert.deepEqual(describeAll(await readAll(follow(rig, 1, () => false))), kinds);
  });

  test("continues to the end of its own run if the turn ended without the steer", async () => {
    const rig = createTestLog();
    const reading = readAll(follow(rig, 0, () => true));
    rig.append("run.completed", { ...other, outcome: "cancelled" });
    await settle();
    rig.append("run.started");
    rig.append("run.completed", END);
    assert.deepEqual(describeAll(await reading), ["1 run.completed", "2 run.started", "3 run.completed"]);
  });

  test("of a withdrawn steer ends with the steer's own end, even if the turn continues", async () => {
    const rig = createTestLog();
    rig.append("tool.call", other);
    rig.append("run.completed", { outcome: "cancelled" });
    rig.append("tool.result", other);
    rig.append("run.completed", { ...other, ...END });
    assert.deepEqual(describeAll(await readAll(follow(rig, 0, () => true))), [
      "1 tool.call",
      "2 run.completed",
    ]);
  });
});
