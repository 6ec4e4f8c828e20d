import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "./bus/local-bus.ts";
import { createEventLog } from "./event-log.ts";
import { readPage } from "./read-page.ts";
import { anyEvent, insertBareSession } from "./testing.ts";

const { db, close } = await openTestDatabase();
after(close);
const log = createEventLog(db, createMemoryBus());
const sessionId = await insertBareSession(db);
const requests = ["req_a", "req_b", "req_c", null, "req_a", "req_b", "req_a"];
await log.transact(sessionId, async (_tx, emit) => {
  for (const requestId of requests) emit({ ...anyEvent("x"), requestId });
});
const read = async (requestIds: string[], from = 0, limit = 100) => {
  const page = await readPage(db, { sessionId, requestIds, after: from, limit });
  return { seqs: page.events.map(({ seq }) => seq), lastSeq: page.lastSeq };
};

test("a page contains the events of its requests, as in the log, and the session's last number", async () => {
  assert.deepEqual(await read(["req_a"]), { seqs: [1, 5, 7], lastSeq: 7 });
  assert.deepEqual(await read(["req_b", "req_c"]), { seqs: [2, 3, 6], lastSeq: 7 });
  assert.deepEqual(await read(["req_a"], 1, 1), { seqs: [5], lastSeq: 7 });
  const { events } = await readPage(db, { sessionId, requestIds: ["req_a"], after: 0, limit: 100 });
  assert.deepEqual(events, await log.read(sessionId, { after: 0, requestId: "req_a", limit: 100 }));
});

test("a page without events still has the last number", async () => {
  assert.deepEqual(await read(["req_a"], 7), { seqs: [], lastSeq: 7 });
  assert.deepEqual(await read(["req_none"]), { seqs: [], lastSeq: 7 });
});

test("concurrent reads share the same event objects", async () => {
  const query = { sessionId, requestIds: ["req_a"], after: 0, limit: 100 };
  const [, ...others] = await Promise.all(Array.from({ length: 5 }, () => readPage(db, query)));
  for (const page of others) assert.equal(page.events[0], others[0]?.events[0]);
});
