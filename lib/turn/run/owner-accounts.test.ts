import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { ownerSpend } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { deleteOwnerSpendBefore } from "#lib/session/budget/budget-store.ts";
import { createOwnerAccounts } from "./owner-accounts.ts";

const { db, close } = await openTestDatabase();
after(close);

const NOON = Date.parse("2026-11-25T12:00:00Z");
const spend = (tokens: number) => ({ tokens, usd: tokens / 1_000, ms: 10 });

function openAccounts(budget: { tokens?: number; usd?: number }, own: Database = db) {
  let now = NOON;
  const accounts = createOwnerAccounts({ db: own, logger: { warn() {} }, now: () => now }, budget);
  return { ...accounts, advance: (ms: number) => (now += ms) };
}

describe("the accounts of owners", () => {
  test("are exhausted until the next day once all processes together have spent the budget", async () => {
    const [one, other] = [openAccounts({ tokens: 1_000 }), openAccounts({ tokens: 1_000 })];
    one.add("ada", spend(600));
    assert.equal(await one.findExhausted("ada"), undefined);
    other.add("ada", spend(500));
    const exhausted = await other.findExhausted("ada");
    assert.equal(
      exhausted?.sentence,
      "The owner's budget of 1,000 tokens a day is used up (1,100 spent). The turn continues at midnight UTC.",
    );
    assert.equal(exhausted?.until.toISOString(), "2026-11-26T00:00:00.000Z");
    assert.equal(await other.findExhausted("grace"), undefined);
    other.advance(12 * 3_600_000);
    assert.equal(await other.findExhausted("ada"), undefined);
    await Promise.all([one.close(), other.close()]);
  });

  test("survive an orderly end of the process, which flushes pending spend", async () => {
    const one = openAccounts({ usd: 5 });
    one.add("grace", spend(3_000));
    one.add("grace", spend(2_000));
    await one.close();
    const next = openAccounts({ usd: 5 });
    assert.match((await next.findExhausted("grace"))?.sentence ?? "", /\$5\.00 a day is used up/);
    await next.close();
  });

  test("write all that is pending on request, also what was added while a statement was in progress", async () => {
    const [one, other] = [openAccounts({ tokens: 1_000 }), openAccounts({ tokens: 1_000 })];
    one.add("rear", spend(600));
    const reading = one.findExhausted("rear");
    one.add("rear", spend(500));
    await Promise.all([reading, one.flush()]);
    assert.match((await other.findExhausted("rear"))?.sentence ?? "", /\(1,100 spent\)/);
    await Promise.all([one.close(), other.close()]);
  });

  test("write at an orderly end also what was added while a statement was in progress", async () => {
    const one = openAccounts({ tokens: 1_000 });
    one.add("hedy", spend(600));
    const reading = one.findExhausted("hedy");
    one.add("hedy", spend(500));
    await Promise.all([reading, one.close()]);
    const next = openAccounts({ tokens: 1_000 });
    assert.match((await next.findExhausted("hedy"))?.sentence ?? "", /\(1,100 spent\)/);
    await next.close();
  });

  test("keep spend that could not be written", async () => {
    let isAway = true;
    const flaky = new Proxy(db, {
      get: (target, name) =>
        isAway && name === "execute"
          ? () => Promise.reject(new Error("away"))
          : Reflect.get(target, name, target),
    });
    const one = openAccounts({ tokens: 1_000 }, flaky);
    one.add("linus", spend(700));
    await assert.rejects(one.findExhausted("linus"), /away/);
    isAway = false;
    await one.close();
    const [row] = await db.select().from(ownerSpend).where(eq(ownerSpend.ownerId, "linus"));
    assert.equal(row?.tokens, 700);
  });

  test("of earlier days are deleted", async () => {
    await deleteOwnerSpendBefore(db, "2026-11-26");
    const rows = await db.select().from(ownerSpend);
    assert.deepEqual(
      rows.map(({ day }) => day),
      ["2026-11-26"],
    );
    await deleteOwnerSpendBefore(db, "2026-11-27");
    assert.deepEqual(await db.select().from(ownerSpend), []);
  });
});
