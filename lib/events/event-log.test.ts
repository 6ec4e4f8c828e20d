import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eq } from "drizzle-orm";
import { sessions } from "#db/schema/index.ts";
import { openTestDatabase, type TestDatabase } from "#db/testing.ts";
import { type BusItem, createMemoryBus } from "./bus/bus.ts";
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
    const seen: number[] = [];
    log.subscribe(sessionId, (item) => item.type === "event" && seen.push(item.event.seq));
    const writers = Array.from({ length: 20 }, (_, writer) =>
      append(sessionId, ...Array.from({ length: 1 + (writer % 3) }, (_, index) => `${writer}.${index}`)),
    );
    await Promise.all(writers);
    const events = await readAll(sessionId);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    assert.equal(events.length, seen.length);
    // What one transaction emitted stays together, in its order.
    for (const [index, event] of events.entries()) {
      const [writer, part] = textOf(event).split(".");
      if (part !== "0") assert.equal(textOf(events[index - 1] ?? event), `${writer}.${Number(part) - 1}`);
    }
  });

  it("keeps nothing of a transaction that fails, not even its numbers", async () => {
    const sessionId = await insertBareSession(database.db);
    const heard: BusItem[] = [];
    log.subscribe(sessionId, (item) => heard.push(item));
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
      heard.map((item) => item.type === "event" && item.event.seq),
      [1],
    );
    const [row] = await database.db.select().from(sessions).where(eq(sessions.id, sessionId));
    assert.equal(row?.title, "A session");
  });

  it("has followers read again where its writer cannot know whether the commit came about", async () => {
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
    const unlucky = createEventLog(db, createMemoryBus());
    const reads: Promise<string[]>[] = [];
    const read = () => reads.push(readAll(sessionId).then((events) => events.map(textOf)));
    unlucky.subscribe(sessionId, () => {}, read);
    const failing = unlucky.transact(sessionId, async (_tx, emit) => emit(anyEvent("stored")));
    await assert.rejects(failing, /the connection was lost/);
    assert.deepEqual(await Promise.all(reads), [["stored"]]);
    unlucky.recheck(sessionId);
    assert.equal(reads.length, 2);
  });

  it("publishes an event after its commit, so that whoever hears it can read it", async () => {
    const sessionId = await insertBareSession(database.db);
    const reads: Promise<string[]>[] = [];
    log.subscribe(sessionId, () => reads.push(readAll(sessionId).then((events) => events.map(textOf))));
    await append(sessionId, "there");
    assert.deepEqual(await Promise.all(reads), [["there"]]);
  });

  it("misses nothing for whoever subscribes first and then reads", async () => {
    const sessionId = await insertBareSession(database.db);
    const writing = (async () => {
      for (let index = 0; index < 30; index++) await append(sessionId, String(index));
    })();
    const got = new Set<number>();
    log.subscribe(sessionId, (item) => item.type === "event" && got.add(item.event.seq));
    for (const { seq } of await readAll(sessionId)) got.add(seq);
    await writing;
    assert.equal(got.size, 30);
  });

  it("reads one request's events, whose numbers rise with jumps, page by page", async () => {
    const sessionId = await insertBareSession(database.db);
    await append(sessionId, "a", "b", "c");
    const page = await log.read(sessionId, { after: 1, limit: 1 });
    assert.deepEqual(page.map(textOf), ["b"]);
    assert.deepEqual(await log.read(sessionId, { after: 0, requestId: "req_none", limit: 10 }), []);
  });

  it("refuses events of a session that is gone", async () => {
    await assert.rejects(append("ses_gone", "x"), /no session ses_gone/);
  });
});
