import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startTestPostgres, type TestPostgres } from "#db/postgres-testing.ts";
import { openTestPostgres, type TestDatabase } from "#db/testing.ts";
import type { NewEvent } from "../event.ts";
import { createEventLog } from "../event-log.ts";
import { anyEvent, insertBareSession, pieceOf, textOf, waitUntil } from "../testing.ts";
import type { BusItem, EventBus } from "./bus.ts";
import { createMemoryBus } from "./local-bus.ts";
import { createPostgresBus } from "./postgres-bus.ts";

let postgres: TestPostgres;
let first: TestDatabase;
let second: TestDatabase;

before(async () => {
  postgres = await startTestPostgres();
  first = await openTestPostgres({ driver: "pg", url: postgres.url });
  second = await openTestPostgres({ driver: "pg", url: postgres.url });
});
after(async () => {
  await first.close();
  await second.close();
  await postgres.stop();
});

const silent = { warn() {}, debug() {} };

async function openBus(database: TestDatabase, sweepMs?: number): Promise<EventBus> {
  const { db, listen } = database;
  assert.ok(listen);
  return createPostgresBus({ db, listen, logger: silent, ...(sweepMs !== undefined && { sweepMs }) });
}

/**
 * The buses of a test. The test publishes on `here` and listens on `there`. If there is only one process, `here` and
 * `there` are the same bus.
 */
type Pair = { here: EventBus; there: EventBus; close: () => Promise<void> };

async function openPair(): Promise<Pair> {
  const [here, there] = [await openBus(first), await openBus(second)];
  await connectPeers(here, there);
  const close = async () => {
    await here.close();
    await there.close();
  };
  return { here, there, close };
}

/** Waits until each bus knows the other as a peer. */
async function connectPeers(here: EventBus, there: EventBus): Promise<void> {
  let isConnected = false;
  const stops = [
    there.onSignal("knock", () => there.signal("answer", "")),
    here.onSignal("answer", () => {
      isConnected = true;
    }),
  ];
  for (const end = Date.now() + 10_000; !isConnected; ) {
    assert.ok(Date.now() < end, "the two buses did not find each other");
    here.signal("knock", "");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const stop of stops) stop();
}

const single = (bus: EventBus): Pair => ({ here: bus, there: bus, close: bus.close });

const implementations: { name: string; open: () => Promise<Pair> }[] = [
  { name: "in memory", open: async () => single(createMemoryBus()) },
  { name: "on Postgres, within one process", open: async () => single(await openBus(first)) },
  { name: "on Postgres, between two processes", open: openPair },
];

for (const { name, open } of implementations) {
  describe(`the event bus ${name}`, () => {
    let pair: Pair;
    let sessionId: string;
    before(async () => {
      pair = await open();
      sessionId = await insertBareSession(first.db);
    });
    after(() => pair.close());

    const append = (...news: NewEvent[]) =>
      createEventLog(first.db, pair.here).transact(sessionId, async (_tx, emit) => {
        for (const event of news) emit(event);
      });
    const publishPiece = (offset: number, text: string) =>
      pair.here.publish(sessionId, { type: "delta", delta: pieceOf(sessionId, offset, text) });

    it("delivers stored events to the session's listeners, complete and in order", async () => {
      const received: BusItem[] = [];
      const stop = pair.there.subscribe(sessionId, (item) => received.push(item));
      await append(anyEvent("a"), anyEvent("b"));
      await append(anyEvent("c"));
      await waitUntil(() => received.length === 3, "three events were received");
      stop();
      const events = received.flatMap((item) => (item.type === "event" ? [item.event] : []));
      assert.deepEqual(events.map(textOf), ["a", "b", "c"]);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        [1, 2, 3],
      );
    });

    it("delivers nothing from other sessions, and nothing after unsubscribing", async () => {
      const received: BusItem[] = [];
      const stop = pair.there.subscribe("another session", (item) => received.push(item));
      pair.there.subscribe(sessionId, (item) => received.push(item))();
      const other: BusItem[] = [];
      const stopOther = pair.there.subscribe(sessionId, (item) => other.push(item));
      await append(anyEvent("d"));
      await waitUntil(() => other.length === 1, "the other listener has received it");
      stop();
      stopOther();
      assert.equal(received.length, 0);
    });

    it("delivers live pieces of any length, and keeps the message so far for late readers", async () => {
      // The text is longer than one notification can be. It contains surrogate pairs and multi-byte characters.
      const long = "😀ä\n".repeat(4_000);
      const pieces: string[] = [];
      const stop = pair.there.subscribe(sessionId, (item) => {
        if (item.type === "delta") {
          assert.equal(item.delta.offset, pieces.join("").length);
          pieces.push(item.delta.text);
        }
      });
      publishPiece(0, "It ");
      publishPiece(3, long);
      publishPiece(3 + long.length, " ends");
      const whole = `It ${long} ends`;
      await waitUntil(() => pieces.join("").length >= whole.length, "all pieces were received");
      stop();
      assert.equal(pieces.join(""), whole);
      for (const piece of pieces) assert.ok(piece.isWellFormed());
      const [unfinished] = pair.there.readUnfinished(sessionId);
      assert.deepEqual([unfinished?.offset, unfinished?.text], [0, whole]);
    });

    it("drops the unfinished message when its run has ended, with or without listeners", async () => {
      publishPiece(0, "It begins");
      await waitUntil(() => pair.there.readUnfinished(sessionId).length === 1, "the piece has arrived");
      const usage = { inputTokens: 0, outputTokens: 0, reasoningTokens: 0, cachedInputTokens: 0 };
      await append({
        kind: "run.completed",
        requestId: null,
        runId: null,
        source: "api",
        outcome: "succeeded",
        usage: { ...usage, modelCalls: 0, toolCalls: 0, durationMs: 0 },
      });
      await waitUntil(() => pair.there.readUnfinished(sessionId).length === 0, "the message is dropped");
    });

    it("recheck reports a gap to the session's listeners in this process, and to no others", async () => {
      const gaps: string[] = [];
      const ignore = () => {};
      const stops = [
        pair.here.subscribe(sessionId, ignore, () => gaps.push("one")),
        pair.here.subscribe(sessionId, ignore, () => gaps.push("other")),
        pair.here.subscribe("another session", ignore, () => gaps.push("another's")),
      ];
      pair.here.recheck(sessionId);
      for (const stop of stops) stop();
      pair.here.recheck(sessionId);
      assert.deepEqual(gaps, ["one", "other"]);
    });

    it("delivers a signal to every process", async () => {
      const here: string[] = [];
      const there: string[] = [];
      const stops = [
        pair.here.onSignal("stop", (word) => here.push(word)),
        pair.there.onSignal("stop", (word) => there.push(word)),
      ];
      pair.here.signal("stop", "run_1");
      assert.deepEqual(here, ["run_1"]);
      await waitUntil(() => there.length === 1, "the signal was received");
      for (const stop of stops) stop();
      assert.deepEqual(there, ["run_1"]);
    });
  });
}

describe("the event bus of a single process", () => {
  it("reports a gap when events were stored but their writer did not learn of the commit", async () => {
    const bus = await openBus(first, 20);
    const [followed, quiet] = [await insertBareSession(first.db), await insertBareSession(first.db)];
    const gaps = { followed: 0, quiet: 0 };
    const ignore = () => {};
    bus.subscribe(followed, ignore, () => gaps.followed++);
    bus.subscribe(quiet, ignore, () => gaps.quiet++);
    await waitUntil(() => gaps.quiet === 1, "the first sweep reported a gap");
    // Simulates a lost reply to the commit: the event is stored, but not published on the bus.
    await createEventLog(first.db, createMemoryBus()).transact(followed, async (_tx, emit) => {
      emit(anyEvent("unpublished"));
    });
    await waitUntil(() => gaps.followed === 2, "the listener received a gap");
    assert.equal(gaps.quiet, 1, "a session without new events gets no second gap");
    await bus.close();
  });

  it("sweeps all sessions with one statement, and runs none without listeners", async (t) => {
    const { listen } = first;
    assert.ok(listen);
    let statements = 0;
    const db = new Proxy(first.db, {
      get(target, name) {
        if (name === "select") statements++;
        return Reflect.get(target, name);
      },
    });
    t.mock.timers.enable({ apis: ["setInterval"] });
    const bus = await createPostgresBus({ db, listen, logger: silent, sweepMs: 5_000 });
    t.mock.timers.tick(15_000);
    assert.equal(statements, 0);
    const stops = ["ses_1", "ses_2", "ses_2"].map((sessionId) => bus.subscribe(sessionId, () => {}));
    t.mock.timers.tick(5_000);
    assert.equal(statements, 1);
    for (const stop of stops) stop();
    t.mock.timers.tick(15_000);
    assert.equal(statements, 1);
    await bus.close();
  });
});

describe("the event bus between processes", () => {
  it("sends a process that starts in the middle of a message the message so far", async () => {
    const here = await openBus(first);
    const sessionId = await insertBareSession(first.db);
    here.publish(sessionId, { type: "delta", delta: pieceOf(sessionId, 0, "Half a ") });
    const there = await openBus(second);
    await waitUntil(() => there.readUnfinished(sessionId).length === 1, "the new process has the beginning");
    here.publish(sessionId, { type: "delta", delta: pieceOf(sessionId, 7, "sentence") });
    await waitUntil(
      () => there.readUnfinished(sessionId)[0]?.text === "Half a sentence",
      "the rest has arrived",
    );
    await here.close();
    await there.close();
  });

  it("sends all pending signals before it closes", async () => {
    const { here, there } = await openPair();
    const received: string[] = [];
    there.onSignal("last", (word) => received.push(word));
    here.signal("last", "being sent when the bus closes");
    here.signal("last", "waiting when the bus closes");
    await here.close();
    await waitUntil(() => received.length === 2, "both signals were received");
    await there.close();
  });

  it("reports a gap when another process stored events and did not publish them", async () => {
    const [here, there] = [await openBus(first), await openBus(second, 20)];
    await connectPeers(here, there);
    const sessionId = await insertBareSession(first.db);
    let gaps = 0;
    there.subscribe(
      sessionId,
      () => {},
      () => gaps++,
    );
    await waitUntil(() => gaps === 1, "the first sweep reported a gap");
    // Simulates a process that ended after its commit: the event is stored, but not published on the bus.
    await createEventLog(first.db, createMemoryBus()).transact(sessionId, async (_tx, emit) => {
      emit(anyEvent("unpublished"));
    });
    await waitUntil(() => gaps === 2, "the listener received a gap");
    await here.close();
    await there.close();
  });

  it("reconnects after a restart of the server: listeners read what they missed, then receive new events", async () => {
    const [here, there] = [await openBus(first), await openBus(second)];
    await connectPeers(here, there);
    const sessionId = await insertBareSession(first.db);
    const log = createEventLog(first.db, here);
    const reader = createEventLog(second.db, there);
    const texts: string[] = [];
    let lastSeq = 0;
    const read = async () => {
      for (const event of await reader.read(sessionId, { after: lastSeq, limit: 100 })) take(event);
    };
    const take = (event: Parameters<typeof textOf>[0]) => {
      if (event.seq !== lastSeq + 1) return;
      lastSeq = event.seq;
      texts.push(textOf(event));
    };
    const signals: string[] = [];
    let signalGaps = 0;
    there.onSignal(
      "word",
      (word) => signals.push(word),
      () => signalGaps++,
    );
    reader.subscribe(
      sessionId,
      (item) => item.type === "event" && take(item.event),
      () => void read().catch(() => {}),
    );
    const append = (text: string) => log.transact(sessionId, async (_tx, emit) => emit(anyEvent(text)));

    await append("before");
    await waitUntil(() => texts.length === 1, "the first event was received");
    await postgres.restart("immediate", async () => {
      await assert.rejects(append("lost"));
      here.signal("word", "sent while disconnected");
    });
    await append("after").catch(() => append("after"));
    await waitUntil(() => texts.length === 2, "the event stored while reconnecting was read");
    await waitUntil(
      () => signals.length > 0 || signalGaps > 0,
      "the signal was received, or a gap was reported",
    );
    await append("later");
    await waitUntil(() => texts.length === 3, "new events are received");
    assert.deepEqual(texts, ["before", "after", "later"]);
    await here.close();
    await there.close();
  });
});
