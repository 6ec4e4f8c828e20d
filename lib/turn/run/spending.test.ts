import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { sessions } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { openTopic } from "#lib/events/bus/topic.ts";
import type { Budget } from "#lib/session/budget/budget.ts";
import { newId } from "#lib/session/new-id.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { createSpending, type Spending } from "./spending.ts";

const { db, close } = await openTestDatabase();
after(close);
const bus = createMemoryBus();
const USAGE = { inputTokens: 900, outputTokens: 100, reasoningTokens: 50, cachedInputTokens: 0 };

const open = (own: Database = db): Spending =>
  createSpending({ db: own, price: undefined, owners: undefined, topic: openTopic(bus, "budget-changed") });

async function startRun(budget: Budget | null, more: { subAgents?: boolean } = {}) {
  const id = newId("ses");
  await db.insert(sessions).values(sessionRow({ id, budget, ...more }));
  const session = await findSession(db, id);
  assert.ok(session);
  return { session, agent: undefined, countedAt: performance.now() };
}

const noStatements = new Proxy(db, { get: () => assert.fail("a statement was sent") });

describe("spending", () => {
  test("is compared in memory: a session without sub-agents costs no statement", async () => {
    const spending = open(noStatements);
    for (const budget of [null, { tokens: 2_000 }]) {
      const run = await startRun(budget);
      spending.begin(run);
      assert.equal(await spending.findExhausted(run), undefined);
      assert.equal(spending.countCall(run, USAGE).tokens, 1_000);
      assert.equal(await spending.findExhausted(run), undefined);
      spending.countCall(run, USAGE);
      const exhausted = await spending.findExhausted(run);
      assert.equal(exhausted !== undefined, budget !== null);
    }
    await spending.close();
  });

  test("of a session begins with the spend of its earlier turns", async () => {
    const spending = open(noStatements);
    const run = await startRun({ tokens: 1_500 });
    run.session.spentTokens = 1_500;
    spending.begin(run);
    assert.match(
      (await spending.findExhausted(run))?.sentence ?? "",
      /1,500 tokens is used up \(1,500 spent\)/,
    );
    await spending.close();
  });

  test("of a tree with sub-agents is read once, and then counted in memory for 15 seconds", async () => {
    let reads = 0;
    const counting = new Proxy(db, {
      get: (target, name) => {
        if (name === "select") reads++;
        return Reflect.get(target, name, target);
      },
    });
    const spending = open(counting);
    const run = await startRun({ tokens: 5_000 }, { subAgents: true });
    spending.begin(run);
    for (let step = 0; step < 4; step++) {
      assert.equal(await spending.findExhausted(run), undefined);
      spending.countCall(run, USAGE);
    }
    assert.equal(reads, 1);
    spending.countCall(run, USAGE);
    assert.notEqual(await spending.findExhausted(run), undefined);
    await spending.close();
  });

  test("is compared with a changed budget before the next call, in every process", async () => {
    const [one, other] = [open(), open()];
    const run = await startRun(null);
    one.begin(run);
    one.countCall(run, USAGE);
    await db
      .update(sessions)
      .set({ budget: { tokens: 800 }, spentTokens: 1_000 })
      .where(eq(sessions.id, run.session.id));
    assert.equal(await one.findExhausted(run), undefined, "it is not told yet");
    other.budgetChanged(run.session.id);
    assert.match((await one.findExhausted(run))?.sentence ?? "", /800 tokens is used up \(1,000 spent\)/);
    await Promise.all([one.close(), other.close()]);
  });

  test("cannot be compared with a limit in US dollars once the price is removed, so the turn waits", async () => {
    const spending = open();
    const run = await startRun({ usd: 1 });
    spending.begin(run);
    assert.match(
      (await spending.findExhausted(run))?.sentence ?? "",
      /US dollars cannot be counted, because the price/,
    );
    await spending.close();
  });

  test("counts the time since the last count once", async () => {
    const spending = open(noStatements);
    const run = await startRun(null);
    run.countedAt -= 2_000;
    const first = spending.countTime(run);
    assert.ok(first.ms >= 2_000 && first.ms < 3_000, `${first.ms} ms`);
    assert.ok(spending.countTime(run).ms < 1_000);
    await spending.close();
  });
});
