import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import { elicitations as elicitationRows, runs } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { listElicitations, listOpenElicitations } from "../store/elicitation-store.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";
import { answerElicitation } from "./answer-elicitation.ts";
import { createElicitations, type ElicitationEnd } from "./elicitation.ts";

const { db, close } = await openTestDatabase();
const log = createEventLog(db, createMemoryBus());
const deps = { db, log, jobs: { sendSoon() {} } };
const elicitations = createElicitations({ db, log });
const { requestId, runId } = await insertTestSession(db, "ses_a");
await insertTestSession(db, "ses_b");
after(close);

const question = { question: "Which one?", options: ["left", "right"], form: null, timeoutMs: 60_000 };
const asking = (callId: string) => ({ sessionId: "ses_a", runId, callId });
const answer = (id: string, value: Parameters<typeof answerElicitation>[2], sessionId = "ses_a") =>
  answerElicitation(deps, { sessionId, elicitationId: id }, value, "person");

/** Asks a question and checks that it is open. @returns the id of the question. */
async function ask(callId: string, fields: Partial<Parameters<typeof elicitations.ask>[1]> = {}) {
  const result = await elicitations.ask(asking(callId), { ...question, ...fields }, undefined);
  assert.equal(result.state, "open");
  return result.id;
}
const look = (callId: string, endedBy?: Parameters<typeof elicitations.ask>[2]) =>
  elicitations.ask(asking(callId), question, endedBy);

/** Asks a question as a tool server does during a call, and waits for the `elicitation.requested` event. */
async function askAndWait(callId: string, options: { signal?: AbortSignal; timeoutMs?: number } = {}) {
  const { signal = new AbortController().signal, timeoutMs = 60_000 } = options;
  const { promise: shown, resolve } = Promise.withResolvers<string>();
  const stop = log.subscribe("ses_a", (item) => {
    if (item.type !== "event" || item.event.kind !== "elicitation.requested") return;
    const event = JSON.parse(item.event.body);
    if (event.toolCallId === callId) resolve(event.elicitationId);
  });
  const end = elicitations.askAndWait({ ...asking(callId), signal }, { ...question, timeoutMs });
  const id = await shown;
  stop();
  return { id, end };
}
const isEnd = async (end: Promise<ElicitationEnd>, expected: ElicitationEnd) =>
  assert.deepEqual(await end, expected);

describe("a question to people on the session page", () => {
  test("is asked once, and answered once", async () => {
    const id = await ask("call_1");
    assert.equal(await ask("call_1"), id);
    assert.deepEqual(
      (await listOpenElicitations(db, "ses_a")).map((row) => row.id),
      [id],
    );
    assert.deepEqual(await answer(id, "left"), { status: "accepted" });
    assert.deepEqual(await look("call_1"), { state: "answered", answer: "left" });
    assert.deepEqual(await answer(id, "right"), { status: "settled" });
    assert.deepEqual(await listOpenElicitations(db, "ses_a"), []);
  });

  test("can be declined", async () => {
    const id = await ask("call_2");
    assert.deepEqual(await answer(id, null), { status: "accepted" });
    assert.deepEqual(await look("call_2"), { state: "declined" });
  });

  test("can be answered only in its own session", async () => {
    const id = await ask("call_3");
    assert.deepEqual(await answer(id, "x", "ses_b"), { status: "unknown" });
    assert.deepEqual(await answer("eli_none", "x"), { status: "unknown" });
    assert.deepEqual(await answer(id, "mine\0"), { status: "accepted" });
    assert.deepEqual(await look("call_3"), { state: "answered", answer: "mine\ufffd" });
  });

  for (const [endedBy, state] of [
    ["deadline", "unanswered"],
    ["message", "withdrawn"],
    ["stopped", "withdrawn"],
  ] as const)
    test(`is ${state} when its wait is ended by ${endedBy}, unless it was answered first`, async () => {
      const id = await ask(`call_${endedBy}`);
      assert.deepEqual(await look(`call_${endedBy}`, endedBy), { state });
      assert.deepEqual(await answer(id, "late"), { status: "settled" });
      const other = await ask(`call_${endedBy}_answered`);
      await answer(other, "in time");
      assert.deepEqual(await look(`call_${endedBy}_answered`, endedBy), {
        state: "answered",
        answer: "in time",
      });
    });

  test("with a form accepts valid values, and remains open after invalid ones", async () => {
    const form = {
      type: "object" as const,
      properties: { email: { type: "string" as const, format: "email" as const } },
      required: ["email"],
    };
    const id = await ask("call_form", { options: null, form });
    assert.deepEqual(await answer(id, "a@b.c"), {
      status: "invalid",
      path: [],
      problem: "must be an object with the fields of the form: email",
    });
    assert.deepEqual(await answer(id, { email: "ada" }), {
      status: "invalid",
      path: ["email"],
      problem: "must be an email address",
    });
    const [row] = await listOpenElicitations(db, "ses_a");
    assert.deepEqual([row?.id, row?.form], [id, form]);
    assert.deepEqual(await answer(id, { email: "ada@shop.example" }), { status: "accepted" });
    assert.deepEqual(await look("call_form"), {
      state: "answered",
      answer: { email: "ada@shop.example" },
    });
    const plain = await ask("call_plain");
    assert.equal((await answer(plain, { email: "x" })).status, "invalid");
    await answer(plain, null);
  });

  test("cannot be answered once its turn has ended or is stopping", async () => {
    const { runId: ended } = await insertTestSession(db, "ses_ended");
    const about = { sessionId: "ses_ended", runId: ended, callId: "call_e" };
    const result = await elicitations.ask(about, question, undefined);
    assert.equal(result.state, "open");
    await db.update(runs).set({ cancelRequestedAt: new Date() }).where(eq(runs.id, ended));
    assert.deepEqual(await answer(result.id, "x", "ses_ended"), { status: "settled" });
    await db.update(runs).set({ state: "cancelled", endedAt: new Date() }).where(eq(runs.id, ended));
    assert.deepEqual(await answer(result.id, "x", "ses_ended"), { status: "settled" });
    assert.deepEqual(await listOpenElicitations(db, "ses_ended"), []);
  });

  test("emits an event of its request when it is asked and when it is resolved", async () => {
    const events = await log.read("ses_a", { after: 0, requestId, limit: 100 });
    const reported = events.map(({ kind, body }) => [
      kind,
      JSON.parse(body).toolCallId ?? JSON.parse(body).state,
    ]);
    assert.deepEqual(reported.slice(0, 4), [
      ["elicitation.requested", "call_1"],
      ["elicitation.resolved", "answered"],
      ["elicitation.requested", "call_2"],
      ["elicitation.resolved", "declined"],
    ]);
    const count = (kind: string) => reported.filter(([each]) => each === kind).length;
    assert.equal(count("elicitation.requested"), count("elicitation.resolved"));
  });

  test("is listed with the others, newest first, in pages", async () => {
    const all = await listElicitations(db, "ses_a", { cursor: undefined, limit: 100 });
    const first = await listElicitations(db, "ses_a", { cursor: undefined, limit: 4 });
    const rest = await listElicitations(db, "ses_a", { cursor: first.at(-1)?.id, limit: 100 });
    assert.deepEqual([...first, ...rest], all);
    assert.equal(all.at(-1)?.callId, "call_1");
  });
});

describe("a question of a tool server during its call", () => {
  test("blocks the call until it is answered", async () => {
    const { id, end } = await askAndWait("call_w1");
    await answer(id, "left");
    await isEnd(end, { state: "answered", answer: "left" });
  });

  test("is unanswered after its deadline, and withdrawn when its turn is stopped", async () => {
    const late = await askAndWait("call_w2", { timeoutMs: 1 });
    await isEnd(late.end, { state: "unanswered" });
    assert.deepEqual(await answer(late.id, "late"), { status: "settled" });
    const stop = new AbortController();
    const stopped = await askAndWait("call_w3", { signal: stop.signal });
    stop.abort();
    await isEnd(stopped.end, { state: "withdrawn" });
  });

  test("survives a restart: the repeated call finds it and its answer", async () => {
    const stop = new AbortController();
    const before = await askAndWait("call_w4", { signal: stop.signal });
    stop.abort(Object.assign(new Error("ends"), { name: "ShutdownError" }));
    await assert.rejects(before.end, { name: "ShutdownError" });
    await answer(before.id, "right");
    const again = { ...asking("call_w4"), signal: new AbortController().signal };
    await isEnd(elicitations.askAndWait(again, question), { state: "answered", answer: "right" });
  });

  test("waits no longer than its timeout when the clock was set back by two days", async () => {
    const stop = new AbortController();
    const before = await askAndWait("call_w5", { signal: stop.signal });
    stop.abort(Object.assign(new Error("ends"), { name: "ShutdownError" }));
    await assert.rejects(before.end, { name: "ShutdownError" });
    const expiresAt = new Date(Date.now() + 2 * 86_400_000);
    await db.update(elicitationRows).set({ expiresAt }).where(eq(elicitationRows.id, before.id));
    const again = { ...asking("call_w5"), signal: new AbortController().signal };
    await isEnd(elicitations.askAndWait(again, { ...question, timeoutMs: 20 }), { state: "unanswered" });
  });
});
