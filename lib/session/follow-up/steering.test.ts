import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq, sql } from "drizzle-orm";
import { elicitations, messages, requests, runs, sessions } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { createJobSender } from "../jobs/job-sender.ts";
import { countQueued, findLastRun, findStatus, listOpenRuns } from "../store/run-store.ts";
import { listReadSteers } from "../store/steering-store.ts";
import { insertTestSession } from "../transcript/transcript-fixture.ts";
import { acceptMessage, type NewFollowUp } from "./accept-message.ts";
import { editQueued, listQueue, withdrawQueued } from "./queue.ts";
import { consumeSteers, hasUnreadSteers, releaseSteers, unreadSteers } from "./steering.ts";

const { db, close } = await openTestDatabase();
const sent: string[] = [];
const jobs = createJobSender({
  db,
  logger: { warn() {} },
  send: async ({ data }) => void ("runId" in data && sent.push(data.runId)),
});
const log = createEventLog(db, createMemoryBus());
after(close);

/** Creates a session whose first request has the origin `external`, and whose first run has started. */
async function open(name: string) {
  const id = `ses_${name}`;
  const { requestId, runId } = await insertTestSession(db, id);
  await db.update(requests).set({ origin: "external" }).where(eq(requests.id, requestId));
  await db.update(sessions).set({ eventSeq: 7, messageSeq: 1 }).where(eq(sessions.id, id));
  await db
    .update(runs)
    .set({ origin: "external", epoch: 1, startedAt: new Date() })
    .where(eq(runs.id, runId));
  const say = async (text: string, fields: Partial<NewFollowUp> = {}) => {
    const result = await acceptMessage(
      { db, log, jobs },
      {
        sessionId: id,
        mode: "steer",
        origin: "external",
        userId: null,
        idempotencyKey: null,
        bodyHash: text,
        messages: [{ role: "user", parts: [{ type: "text", text }] }],
        ...fields,
      },
    );
    assert.ok(result.status === "accepted" || result.status === "replayed", result.status);
    return result;
  };
  const run = { id: runId, sessionId: id, requestId };
  return { id, requestId, runId, run, say };
}
const take = (run: { id: string; sessionId: string; requestId: string }, from = 1) =>
  db.transaction((tx) => consumeSteers(tx, run, from));
const release = (run: { sessionId: string; requestId: string }) =>
  db.transaction((tx) => releaseSteers(tx, run));
const end = (runId: string, state: "succeeded" | "cancelled" = "succeeded", willRetry = false) =>
  db
    .update(runs)
    .set({ ...(willRetry ? { state: "errored", error: "busy" } : { state }), willRetry, endedAt: new Date() })
    .where(eq(runs.id, runId));
/** Finds the run that determines a request's status and stream. */
async function answerOf(sessionId: string, requestId: string) {
  const found = await findStatus(db, { sessionId, requestId, ownerId: "owner" });
  return found.kind === "found" ? found : undefined;
}
const openRuns = async (sessionId: string) => (await listOpenRuns(db, sessionId)).map(({ run }) => run.id);

describe("a steer", () => {
  test("joins the running turn: it shares the run, has no run of its own, and is unread", async () => {
    const { id, run, say } = await open("joins");
    const accepted = await say("look there");
    assert.deepEqual(
      [accepted.runId, accepted.queued, accepted.interrupts, await openRuns(id)],
      [run.id, true, null, [run.id]],
    );
    const [request] = await db.select().from(requests).where(eq(requests.id, accepted.requestId));
    assert.deepEqual([request?.joinedRunId, request?.joinedAfterSeq], [run.id, 7]);
    assert.equal(await hasUnreadSteers(db, run.requestId), true);
    assert.equal(await hasUnreadSteers(db, accepted.requestId), false);
    assert.deepEqual(
      (await listQueue(db, id)).map(({ mode, text }) => [mode, text]),
      [["steer", "look there"]],
    );
    assert.equal(await countQueued(db, id, run.id), 1);
    assert.deepEqual((await answerOf(id, accepted.requestId))?.joined, {
      requestId: run.requestId,
      afterSeq: 7,
    });
  });

  test("is read once, in order of arrival, and its messages follow the given position", async () => {
    const { id, run, say } = await open("read");
    const first = await say("one");
    const second = await say("two", {
      messages: [
        { role: "user", parts: [{ type: "text", text: "two" }] },
        { role: "assistant", parts: [{ type: "text", text: "well" }] },
        {
          role: "user",
          parts: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
      ],
    });
    const read = await take(run, 4);
    assert.deepEqual(
      read.map(({ requestId, rows }) => [requestId, rows.map(({ seq }) => seq)]),
      [
        [first.requestId, [5]],
        [second.requestId, [6, 7, 8]],
      ],
    );
    assert.deepEqual(
      read[1]?.rows.map(({ role, parts }) => [role, parts.length]),
      [
        ["user", 1],
        ["assistant", 1],
        ["user", 2],
      ],
    );
    assert.deepEqual(
      [await take(run, 8), await release(run), await hasUnreadSteers(db, run.requestId)],
      [[], [], false],
    );
    assert.deepEqual([await listQueue(db, id), await countQueued(db, id, run.id)], [[], 0]);
    assert.deepEqual(await listReadSteers(db, id), [first.requestId, second.requestId]);
    assert.deepEqual(await withdrawQueued(db, id, first.requestId), { status: "started" });
    assert.equal(await editQueued(db, id, first.requestId, "late"), "started");
  });

  test("of a person is queued behind a program's turn that lacks tools, but joins a turn that asks the person", async () => {
    const { id, run, say } = await open("lacking");
    const tools = { include: [], exclude: [], externalTurnExclude: ["publish_variant"] };
    await db.update(sessions).set({ tools }).where(eq(sessions.id, id));
    const queued = await say("publish it", { origin: "person" });
    assert.deepEqual([queued.queued, queued.runId === run.id], [true, false]);
    assert.deepEqual(
      (await listQueue(db, id)).map(({ mode, text }) => [mode, text]),
      [["queue", "publish it"]],
    );
    assert.equal((await say("from a program")).runId, run.id);
    const question = {
      id: "eli_lacking",
      sessionId: id,
      runId: run.id,
      callId: "call_1",
      question: "Which?",
    };
    await db.insert(elicitations).values({ ...question, expiresAt: new Date(Date.now() + 60_000) });
    assert.equal((await say("that one", { origin: "person" })).runId, run.id);
  });

  test("is read by the retry if the run that it joined failed, and not by the next request's turn", async () => {
    const { id, run, say } = await open("retry");
    await say("keep this in mind");
    const next = await say("later", { mode: "queue" });
    await end(run.id, "succeeded", true);
    const retry = { id: "run_retry", sessionId: id, requestId: run.requestId };
    await db.insert(runs).values({ ...retry, attempt: 2, origin: "retry" });
    assert.deepEqual(await take({ id: next.runId, sessionId: id, requestId: next.requestId }), []);
    assert.equal((await say("and this")).runId, retry.id);
    assert.deepEqual(
      (await take(retry)).map(({ rows }) => rows[0]?.parts),
      [[{ type: "text", text: "keep this in mind" }], [{ type: "text", text: "and this" }]],
    );
  });

  test("becomes a separate request when its turn ends without reading it, in order of arrival", async () => {
    const { id, run, say } = await open("released");
    const queued = await say("first in the queue", { mode: "queue" });
    const steers = [await say("steer one"), await say("steer two", { origin: "person" })];
    const released = await release(run);
    assert.deepEqual(
      released.map(({ requestId, attempt, state, origin }) => [requestId, attempt, state, origin]),
      steers.map(({ requestId }, index) => [requestId, 1, "pending", index === 0 ? "external" : "person"]),
    );
    await end(run.id, "cancelled");
    const own = released.map((each) => each.id);
    assert.deepEqual(await openRuns(id), [queued.runId, ...own]);
    assert.deepEqual(
      (await listQueue(db, id)).map(({ mode, text }) => [mode, text]),
      [
        ["queue", "first in the queue"],
        ["queue", "steer one"],
        ["queue", "steer two"],
      ],
    );
    assert.deepEqual([await release(run), await take(run)], [[], []]);
    assert.equal((await answerOf(id, steers[0]?.requestId ?? ""))?.run.id, own[0]);
  });

  test("has the state of the turn it joined, including retries, until it has its own run", async () => {
    const { id, run, say } = await open("status");
    const steer = await say("status?");
    const answering = async () => (await answerOf(id, steer.requestId))?.run.id;
    assert.equal(await answering(), run.id);
    await end(run.id, "succeeded", true);
    await db
      .insert(runs)
      .values({ id: "run_status_2", sessionId: id, requestId: run.requestId, attempt: 2, origin: "retry" });
    assert.equal(await answering(), "run_status_2");
    assert.equal((await answerOf(id, run.requestId))?.run.id, "run_status_2");
    const [own] = await release(run);
    assert.equal(await answering(), own?.id);
    assert.equal(await answerOf("ses_read", steer.requestId), undefined);
    assert.equal(await answerOf(id, "req_none"), undefined);
  });

  test("can be edited until it is read, and the turn reads the new text", async () => {
    const { id, run, say } = await open("edited");
    const steer = await say("old");
    assert.equal(await editQueued(db, "ses_read", steer.requestId, "x"), "unknown");
    assert.equal(await editQueued(db, id, steer.requestId, "new"), "edited");
    assert.deepEqual((await take(run))[0]?.rows[0]?.parts, [{ type: "text", text: "new" }]);
  });

  test("that is withdrawn leaves its turn and gets a run to cancel, once", async () => {
    const { id, run, say } = await open("withdrawn");
    const steer = await say("never mind");
    const withdrawn = await withdrawQueued(db, id, steer.requestId);
    assert.ok(withdrawn.status === "waiting");
    assert.deepEqual(await openRuns(id), [run.id, withdrawn.runId]);
    assert.deepEqual([await take(run), await release(run)], [[], []]);
    assert.deepEqual(await withdrawQueued(db, id, steer.requestId), withdrawn);
    await end(withdrawn.runId, "cancelled");
    assert.deepEqual(await withdrawQueued(db, id, steer.requestId), { status: "started" });
    assert.deepEqual([await listQueue(db, id), await countQueued(db, id, run.id)], [[], 0]);
    assert.deepEqual(await withdrawQueued(db, id, "req_none"), { status: "unknown" });
  });

  test("returns the original ids for a replay of its key, even after it was released", async () => {
    const { run, say } = await open("replayed");
    const key = { idempotencyKey: "k" };
    const accepted = await say("once", key);
    assert.deepEqual(await say("once", key), { ...accepted, status: "replayed" });
    await release(run);
    assert.deepEqual(await say("once", key), { ...accepted, status: "replayed" });
  });

  test("is a plain follow-up if no run is open, or if it would join a person's turn", async () => {
    const { id, run, requestId, say } = await open("plain");
    await db.update(requests).set({ origin: "person" }).where(eq(requests.id, requestId));
    const behind = await say("from a program");
    assert.notEqual(behind.runId, run.id);
    assert.equal((await listQueue(db, id))[0]?.mode, "queue");
    for (const runId of [run.id, behind.runId]) await end(runId);
    const started = await say("nothing runs");
    assert.deepEqual([started.queued, await openRuns(id)], [false, [started.runId]]);
    assert.equal((await answerOf(id, started.requestId))?.joined, undefined);
  });

  test("is read or released once under concurrent executors", async () => {
    const { run, say } = await open("raced");
    for (const text of ["a", "b", "c"]) await say(text);
    const [one, other, released] = await Promise.all([take(run, 1), take(run, 1), release(run)]);
    assert.equal(one.length + other.length + released.length, 3);
  });
});

test("unreadSteers can be used in another statement", async () => {
  const { id, runId, run, say } = await open("fragment");
  const ask = async () => {
    const [row] = await db
      .select({ unread: unreadSteers(sql`${runs.requestId}`) })
      .from(runs)
      .where(eq(runs.id, runId));
    return row?.unread;
  };
  assert.equal(await ask(), false);
  await say("unread");
  assert.equal(await ask(), true);
  await take(run);
  assert.equal(await ask(), false);
  assert.equal(await hasUnreadSteers(db, id), false);
});

describe("the order of turns", () => {
  test("is the claimed run, then interrupts, then the others, each in order of arrival", async () => {
    const { id, run, say } = await open("order");
    const first = await say("q1", { mode: "queue" });
    const one = await say("i1", { mode: "interrupt" });
    const second = await say("q2", { mode: "queue" });
    const other = await say("i2", { mode: "interrupt" });
    const order = [one.runId, other.runId, first.runId, second.runId];
    assert.deepEqual(await openRuns(id), [run.id, ...order]);
    assert.deepEqual(
      (await listQueue(db, id)).map(({ text }) => text),
      ["i1", "i2", "q1", "q2"],
    );
    assert.deepEqual([one.interrupts, other.interrupts], [run.id, run.id]);
    await end(run.id, "cancelled");
    const retry = { id: "run_order_2", sessionId: id, requestId: run.requestId };
    await db.insert(runs).values({ ...retry, attempt: 2, origin: "retry" });
    assert.deepEqual(await openRuns(id), [one.runId, other.runId, retry.id, first.runId, second.runId]);
    await db.update(runs).set({ epoch: 1 }).where(eq(runs.id, second.runId));
    assert.equal((await openRuns(id))[0], second.runId);
  });

  test("lets an interrupt overtake a turn that has not begun, and sends its job at once", async () => {
    const { id, run, say } = await open("overtake");
    await db.update(runs).set({ state: "pending", epoch: 0, startedAt: null }).where(eq(runs.id, run.id));
    const accepted = await say("first this", { mode: "interrupt" });
    assert.deepEqual([accepted.queued, accepted.interrupts], [true, run.id]);
    assert.deepEqual(await openRuns(id), [accepted.runId, run.id]);
    const second = await say("then this", { mode: "interrupt" });
    assert.deepEqual([second.queued, second.interrupts], [true, null]);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(
      [sent.includes(accepted.runId), sent.includes(second.runId)],
      [true, false],
      "only the job of the next run is sent",
    );
  });

  test("does not decide which run was last: the last started run is", async () => {
    const { id, run, say } = await open("last");
    const queued = await say("q", { mode: "queue" });
    const urgent = await say("i", { mode: "interrupt" });
    const at = (seconds: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, seconds));
    await end(run.id, "cancelled");
    await db
      .update(runs)
      .set({ startedAt: at(1), state: "succeeded", endedAt: at(2) })
      .where(eq(runs.id, urgent.runId));
    assert.equal((await findLastRun(db, id))?.id, urgent.runId);
    await db
      .update(runs)
      .set({ startedAt: at(3), state: "running" })
      .where(eq(runs.id, queued.runId));
    assert.equal((await findLastRun(db, id))?.id, queued.runId);
  });
});

test("an accepted message takes the next position in the transcript, and a queued one takes none", async () => {
  const { id, run, say } = await open("places");
  await say("waits", { mode: "queue" });
  const last = async () => (await db.select().from(sessions).where(eq(sessions.id, id)))[0]?.messageSeq;
  assert.equal(await last(), 1);
  for (const runId of await openRuns(id)) await end(runId);
  const started = await say("starts");
  const [row] = await db.select().from(messages).where(eq(messages.requestId, started.requestId));
  assert.deepEqual([await last(), row?.seq], [2, 2]);
  assert.equal(await hasUnreadSteers(db, run.requestId), false);
});
