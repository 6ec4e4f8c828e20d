import assert from "node:assert/strict";
import { after, before, describe, it, type TestContext } from "node:test";
import { eq, sql } from "drizzle-orm";
import { deliverables, receipts, runs, sessions, toolCalls } from "#db/schema/index.ts";
import { openTestDatabase, type TestDatabase } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog, type EventLog } from "#lib/events/event-log.ts";
import { insertTestSession } from "#lib/session/transcript/transcript-fixture.ts";
import type { Receipt } from "./find/receipt.ts";
import { createReceiptsService } from "./make-receipts.ts";

let database: TestDatabase;
let log: EventLog;
before(async () => {
  database = await openTestDatabase();
  log = createEventLog(database.db, createMemoryBus());
});
after(() => database.close());

const now = () => new Date();

/** Stores a session with a ready result, and with the results of calls of one tool, each reported by an event. */
async function storeSession(id: string, value: object, results: string[], name = "dom_query") {
  const { db } = database;
  const { runId } = await insertTestSession(db, id);
  await addResults(id, runId, results, name);
  await db.update(runs).set({ state: "succeeded", endedAt: now() }).where(eq(runs.id, runId));
  await db.insert(deliverables).values({ runId, sessionId: id, status: "ready", value });
  await db.insert(receipts).values({ runId, sessionId: id });
  return runId;
}

async function addResults(id: string, runId: string, results: string[], name: string) {
  for (const [index, resultText] of results.entries())
    await database.db.insert(toolCalls).values({
      ...{ runId, callId: `call_${index}`, sessionId: id, resultId: `res_${id}_${index}`, name, resultText },
      input: {},
      state: "succeeded",
      startedAt: new Date(Date.now() - 60_000 + index),
      endedAt: now(),
    });
  await log.transact(id, async (_, emit) => {
    for (const [index] of results.entries())
      emit({
        ...{ kind: "tool.result", requestId: null, runId, source: "api", toolCallId: `call_${index}` },
        ...{ toolName: name, state: "succeeded", resultId: `res_${id}_${index}`, preview: "", evidence: [] },
        durationMs: 1,
      });
  });
}

async function make(runId: string): Promise<Receipt[]> {
  assert.deepEqual(await createReceiptsService({ db: database.db, log }).make(runId), { made: true });
  const [row] = await database.db.select().from(receipts).where(eq(receipts.runId, runId));
  return JSON.parse(row?.list ?? "") as Receipt[];
}

const statusOf = (list: Receipt[], pointer: string) => list.find((each) => each.pointer === pointer)?.status;

describe("making receipts", () => {
  it("is done once, with one event", async () => {
    const runId = await storeSession("ses_once", { title: "Harbour Paper" }, ['heading 1 "Harbour Paper"']);
    const list = await make(runId);
    assert.deepEqual(list, [
      { pointer: "/title", status: "seen", sources: [{ seq: 1, url: null, quote: "Harbour Paper" }] },
    ]);
    assert.deepEqual(await createReceiptsService({ db: database.db, log }).make(runId), { made: false });
    const events = await log.read("ses_once", { after: 0, limit: 10 });
    assert.deepEqual(
      events.map(({ kind, requestId }) => [kind, requestId]),
      [
        ["tool.result", null],
        ["deliverable.receipts", null],
      ],
    );
  });

  it("does nothing for a session that was removed", async () => {
    const runId = await storeSession("ses_gone", { title: "Harbour Paper" }, []);
    await database.db.delete(sessions).where(eq(sessions.id, "ses_gone"));
    assert.deepEqual(await createReceiptsService({ db: database.db, log }).make(runId), { made: false });
    const left = await database.db.select().from(receipts).where(eq(receipts.runId, runId));
    assert.deepEqual(left, []);
  });

  it("looks into the results of sub-agents, and not into what they say", async () => {
    const runId = await storeSession(
      "ses_parent",
      { read: "Blue Heron", said: "Red Heron" },
      ['{"answer":"Blue Heron and Red Heron"}'],
      "wait_for_agents",
    );
    const child = await insertTestSession(database.db, "ses_child");
    await database.db
      .update(sessions)
      .set({ parentSessionId: "ses_parent" })
      .where(eq(sessions.id, "ses_child"));
    await addResults("ses_child", child.runId, ['"Blue Heron"'], "dom_query");
    const list = await make(runId);
    assert.equal(statusOf(list, "/said"), "unseen");
    assert.deepEqual(list[0], {
      pointer: "/read",
      status: "seen",
      sources: [{ seq: 1, url: null, quote: "Blue Heron", sessionId: "ses_child" }],
    });
  });

  it("leaves a value unchecked that is not in the newest 32 MiB", async () => {
    const filler = (index: number) => `page ${index}\n${"word ".repeat(800_000)}`;
    const runId = await storeSession("ses_large", { old: "Blue Heron", fresh: "page 9" }, [
      '"Blue Heron"',
      ...Array.from({ length: 9 }, (_, index) => filler(index + 1)),
    ]);
    const list = await make(runId);
    assert.deepEqual([statusOf(list, "/old"), statusOf(list, "/fresh")], ["unchecked", "seen"]);
  });

  it("takes little of the main thread for 200 values in a session of 1,000 events", async (context: TestContext) => {
    const rows = Array.from({ length: 50 }, (_, index) => ({
      name: `Article ${index + 100}`,
      sku: `SKU-${index + 7_000}`,
      price: index + 1_000.25,
      from: `2026-03-${String((index % 28) + 1).padStart(2, "0")}`,
    }));
    const page = rows
      .map(({ name, sku, price, from }) => `  | "${name}" | "${sku}" | "€ ${price}" | "${from}"`)
      .join("\n");
    const results = Array.from(
      { length: 990 },
      (_, index) =>
        `Snapshot s${index}\ntable "Page ${index}"\n${index % 20 === 0 ? page : page.slice(0, 1_000)}`,
    );
    const runId = await storeSession("ses_many", { rows }, results);
    await database.db.execute(sql`analyze`);
    const before = process.threadCpuUsage();
    const list = await make(runId);
    const { user, system } = process.threadCpuUsage(before);
    context.diagnostic(`main thread: ${Math.round((user + system) / 1_000)} ms for ${list.length} values`);
    assert.equal(list.length, 200);
    assert.ok(list.every(({ status }) => status === "seen" || status === "weak"));
  });
});
