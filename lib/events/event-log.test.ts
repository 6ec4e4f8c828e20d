import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { sessions } from "#db/schema/index.ts";
import { openTestDatabase, type TestDatabase } from "#db/testing.ts";
import type { BusItem } from "./bus/bus.ts";
import { createMemoryBus } from "./bus/local-bus.ts";
import { createEventLog, type EventLog } from "./event-log.ts";
import { anyEvent, insertBareSession, textOf } from "./testing.ts";

let database: TestDatabase;
let log: EventLog;
before(async () => {
  database = await openTestDatabase();
  log = createEventLog(database.db, createMemoryBus());
});
after(() => database.close());

const append = (sessionId: string, ...texts: string[]) =>
  log.transact(sessionId, async (_tx, emit) => {
    for (const text of texts) emit(anyEvent(text));
  });
const readAll = (sessionId: string) => log.read(sessionId, { after: 0, limit: 1_000 });

describe("the event log", () => {
  it("numbers events without gaps, in the order of their commits, under concurrent writers", async () => {
    const sessionId = await insertBareSession(database.db);
    const publishedSeqs: number[] = [];
    log.subscribe(sessionId, (item) => item.type === "event" && publishedSeqs.push(item.event.seq));
    const writers = Array.from({ length: 20 }, (_, writer) =>
      append(sessionId, ...Array.from({ length: 1 + (writer % 3) }, (_, index) => `${writer}.${index}`)),
    );
    await Promise.all(writers);
    const events = await readAll(sessionId);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.equal(events.length, publishedSeqs.length);
    // Events of one transaction have consecutive numbers, in the order in which they were emitted.
    for (const [index, event] of events.entries()) {
      const [writer, part] = textOf(event).split(".");
      if (part !== "0") assert.equal(textOf(events[index - 1] ?? event), `${writer}.${Number(part) - 1}`);
    }
  });

  it("stores nothing of a failed transaction, and does not use up its numbers", async () => {
    const sessionId = await insertBareSession(database.db);
    const received: BusItem[] = [];
    log.subscribe(sessionId, (item) => received.push(item));
    const failing = log.transact(sessionId, async (tx, emit) => {
      emit(anyEvent("never"), async () => {
        throw new Error("no");
      });
      await tx.update(sessions).set({ title: "changed" }).where(eq(sessions.id, sessionId));
    });
    await assert.rejects(failing, /^Error: no$/);
    await append(sessionId, "first");
    assert.deepEqual((await readAll(sessionId)).map(textOf), ["first"]);
    assert.deepEqual(
      received.map((item) => item.type === "event" && item.event.seq),
      [1],
    );
    const [row] = await database.db.select().from(sessions).where(eq(sessions.id, sessionId));
    assert.equal(row?.title, "A session");
  });

  it("makes followers read again when the writer cannot know whether the commit succeeded", async () => {
    const sessionId = await insertBareSession(database.db);
    const db = new Proxy(database.db, {
      get(target, name) {
        if (name !== "transaction") return Reflect.get(target, name);
        return async (work: Parameters<typeof target.transaction>[0]) => {
          await target.transaction(work);
          throw new Error("the connection was lost");
        };
      },
    });
    const failingLog = createEventLog(db, createMemoryBus());
    const reads: Promise<string[]>[] = [];
    const read = () => reads.push(readAll(sessionId).then((events) => events.map(textOf)));
    failingLog.subscribe(sessionId, () => {}, read);
    const failing = failingLog.transact(sessionId, async (_tx, emit) => emit(anyEvent("stored")));
    await assert.rejects(failing, /the connection was lost/);
    assert.deepEqual(await Promise.all(reads), [["stored"]]);
    failingLog.recheck(sessionId);
    assert.equal(reads.length, 2);
  });

  it("publishes an event after its commit, so a listener can read it at once", async () => {
    const sessionId = await insertBareSession(database.db);
    const reads: Promise<string[]>[] = [];
    log.subscribe(sessionId, () => reads.push(readAll(sessionId).then((events) => events.map(textOf))));
    await append(sessionId, "there");
    assert.deepEqual(await Promise.all(reads), [["there"]]);
  });

  it("gives a reader that subscribes first and then reads every event", async () => {
    const sessionId = await insertBareSession(database.db);
    const writing = (async () => {
      for (let index = 0; index < 30; index++) await append(sessionId, String(index));
    })();
    const receivedSeqs = new Set<number>();
    log.subscribe(sessionId, (item) => item.type === "event" && receivedSeqs.add(item.event.seq));
    for (const { seq } of await readAll(sessionId)) receivedSeqs.add(seq);
    await writing;
    assert.equal(receivedSeqs.size, 30);
  });

  it("reads page by page, and filters by request", async () => {
    const sessionId = await insertBareSession(database.db);
    await append(sessionId, "a", "b", "c");
    const page = await log.read(sessionId, { after: 1, limit: 1 });
    assert.deepEqual(page.map(textOf), ["b"]);
    assert.deepEqual(await log.read(sessionId, { after: 0, requestId: "req_none", limit: 10 }), []);
  });

  it("refuses events of a deleted session", async () => {
    await assert.rejects(append("ses_gone", "x"), /no session ses_gone/);
  });
});
