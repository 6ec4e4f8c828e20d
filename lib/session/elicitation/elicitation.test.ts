import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import { elicitations as elicitationRows } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";
import { createElicitations } from "./elicitation.ts";
import { findOpenElicitation } from "./elicitation-store.ts";

const { db, close } = await openTestDatabase();
const log = createEventLog(db, createMemoryBus());
const elicitations = createElicitations({ db, log });
const { requestId, runId } = await insertTestSession(db, "ses_a");
await insertTestSession(db, "ses_b");
after(close);

const question = { question: "Which one?", options: ["left", "right"], timeoutMs: 60_000 };
const asking = (callId: string, signal: AbortSignal = new AbortController().signal) => ({
  sessionId: "ses_a",
  runId,
  callId,
  signal,
});
/** Asks, and waits until the question can be seen. */
async function ask(callId: string, options: { signal?: AbortSignal; timeoutMs?: number } = {}) {
  const { promise: shown, resolve } = Promise.withResolvers<string>();
  const stop = log.subscribe("ses_a", (item) => {
    if (item.type !== "event" || item.event.kind !== "elicitation.requested") return;
    const event = JSON.parse(item.event.body);
    if (event.toolCallId === callId) resolve(event.elicitationId);
  });
  const end = elicitations.ask(asking(callId, options.signal), {
    ...question,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  });
  const id = await shown;
  stop();
  return { id, end };
}

describe("a question to the people on the page", () => {
  test("is answered once", async () => {
    const { id, end } = await ask("call_1");
    assert.equal((await findOpenElicitation(db, "ses_a"))?.id, id);
    assert.equal(await elicitations.answer("ses_a", id, "left"), "accepted");
    assert.deepEqual(await end, { state: "answered", answer: "left" });
    assert.equal(await elicitations.answer("ses_a", id, "right"), "settled");
    assert.equal(await findOpenElicitation(db, "ses_a"), undefined);
  });

  test("may be declined", async () => {
    const { id, end } = await ask("call_2");
    assert.equal(await elicitations.answer("ses_a", id, null), "accepted");
    assert.deepEqual(await end, { state: "declined" });
  });

  test("belongs to its session", async () => {
    const { id, end } = await ask("call_3");
    assert.equal(await elicitations.answer("ses_b", id, "x"), "unknown");
    assert.equal(await elicitations.answer("ses_a", "eli_none", "x"), "unknown");
    await elicitations.answer("ses_a", id, "");
    assert.deepEqual(await end, { state: "answered", answer: "" });
  });

  test("that nobody answers in time, or whose turn is stopped, stays unanswered", async () => {
    const late = await ask("call_4", { timeoutMs: 1 });
    assert.deepEqual(await late.end, { state: "unanswered", reason: "nobody answered in time" });
    assert.equal(await elicitations.answer("ses_a", late.id, "late"), "settled");
    const stop = new AbortController();
    const stopped = await ask("call_5", { signal: stop.signal });
    stop.abort();
    assert.deepEqual(await stopped.end, { state: "unanswered", reason: "the turn was stopped" });
  });

  test("outlives the service: the call that is made again finds it, and its answer", async () => {
    const stop = new AbortController();
    const before = await ask("call_6", { signal: stop.signal });
    stop.abort(Object.assign(new Error("ends"), { name: "ShutdownError" }));
    await assert.rejects(before.end, { name: "ShutdownError" });
    assert.equal(await elicitations.answer("ses_a", before.id, "right"), "accepted");
    assert.deepEqual(await elicitations.ask(asking("call_6"), question), {
      state: "answered",
      answer: "right",
    });
  });

  test("is told in the stream of its request: when it is asked, and what became of it", async () => {
    const events = await log.read("ses_a", { after: 0, requestId, limit: 100 });
    const told = events.map(({ kind, body }) => [
      kind,
      JSON.parse(body).toolCallId ?? JSON.parse(body).state,
    ]);
    assert.deepEqual(told.slice(0, 4), [
      ["elicitation.requested", "call_1"],
      ["elicitation.resolved", "answered"],
      ["elicitation.requested", "call_2"],
      ["elicitation.resolved", "declined"],
    ]);
    assert.equal(told.length, 12);
  });

  test("waits no longer than its own time where the clock was set back by two days", async () => {
    const stop = new AbortController();
    const before = await ask("call_7", { signal: stop.signal });
    stop.abort(Object.assign(new Error("ends"), { name: "ShutdownError" }));
    await assert.rejects(before.end, { name: "ShutdownError" });
    const createdAt = new Date(Date.now() + 2 * 86_400_000);
    await db.update(elicitationRows).set({ createdAt }).where(eq(elicitationRows.id, before.id));
    assert.deepEqual(await elicitations.ask(asking("call_7"), { ...question, timeoutMs: 20 }), {
      state: "unanswered",
      reason: "nobody answered in time",
    });
  });
});
