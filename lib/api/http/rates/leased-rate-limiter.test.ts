import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { sql } from "drizzle-orm";
import { openTestDatabase } from "#db/testing.ts";
import { createLeasedRateLimiter } from "./leased-rate-limiter.ts";
import { deleteFullBuckets, leaseCalls } from "./rate-store.ts";

const { db, close } = await openTestDatabase();
after(close);

const limits = { create: 40, poll: 3, annotate: 0, act: 60 };

/** Creates the limiter of one process, with its own clock. Counts the statements that the limiter sends. */
function openProcess() {
  let now = 0;
  let isReachable = true;
  const warnings: string[] = [];
  const process = {
    statements: 0,
    warnings,
    advance: (ms: number) => (now += ms),
    setReachable: (value: boolean) => (isReachable = value),
  };
  const limiter = createLeasedRateLimiter(limits, {
    async lease(name, limit, slice) {
      process.statements++;
      if (!isReachable) throw Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
      return leaseCalls(db, name, limit, slice);
    },
    logger: { warn: (_fields, message) => void warnings.push(message) },
    now: () => now,
  });
  return Object.assign(process, limiter);
}

/** Simulates elapsed time: the database has its own clock, so the rows are moved into the past. */
const age = (seconds: number) =>
  db.execute(sql`update rate_buckets set at = at - ${seconds} * interval '1 second'`);

describe("rate limits of several processes", () => {
  test("apply to all processes together, with few statements", async () => {
    const processes = [openProcess(), openProcess(), openProcess()];
    const startedAt = performance.now();
    let allowed = 0;
    for (let round = 0; round < 40; round++)
      for (const process of processes)
        if ((await process.consume("create", "together"))?.isAllowed) allowed++;
    // The bucket regains one call every 1.5 s.
    const refilled = Math.ceil((performance.now() - startedAt) / 1_500);
    assert.ok(allowed >= 40 && allowed <= 40 + refilled, `${allowed} calls were allowed`);
    const statements = processes.reduce((sum, process) => sum + process.statements, 0);
    assert.ok(statements < 40, `${statements} statements`);
  });

  test("are exact for concurrent calls at one process", async () => {
    const process = openProcess();
    const verdicts = await Promise.all(Array.from({ length: 10 }, () => process.consume("poll", "at once")));
    assert.deepEqual(
      verdicts.map((verdict) => verdict?.isAllowed),
      [true, true, true, ...Array(7).fill(false)],
    );
    assert.deepEqual(
      verdicts.map((verdict) => verdict?.remaining),
      [2, 1, 0, ...Array(7).fill(0)],
    );
    const resets = verdicts.map((verdict) => verdict?.resetSeconds);
    assert.ok(
      resets.slice(3).every((seconds) => seconds !== undefined && seconds > 0 && seconds <= 20),
      String(resets),
    );
  });

  test("send no statement while a subject is refused, and one when it may call again", async () => {
    const process = openProcess();
    for (let call = 0; call < 4; call++) await process.consume("poll", "refused");
    const { statements } = process;
    for (let call = 0; call < 50; call++)
      assert.equal((await process.consume("poll", "refused"))?.isAllowed, false);
    assert.equal(process.statements, statements);
    await age(20);
    process.advance(20_000);
    assert.equal((await process.consume("poll", "refused"))?.isAllowed, true);
    assert.equal(process.statements, statements + 1);
  });

  test("count each bucket and subject separately, and 0 means unlimited", async () => {
    const process = openProcess();
    for (let call = 0; call < 3; call++) await process.consume("poll", "one");
    assert.equal((await process.consume("poll", "one"))?.isAllowed, false);
    assert.equal((await process.consume("poll", "two"))?.isAllowed, true);
    assert.equal((await process.consume("act", "one"))?.isAllowed, true);
    assert.equal(process.consume("annotate", "one"), undefined);
  });

  test("do not add an unused slice to a bucket that has refilled", async () => {
    const process = openProcess();
    await process.consume("create", "idle");
    await age(120);
    process.advance(120_000);
    const verdict = await process.consume("create", "idle");
    assert.equal(verdict?.remaining, 39);
  });

  test("apply per process while the database is unreachable, and together again afterwards", async () => {
    const process = openProcess();
    process.setReachable(false);
    const calls = Array.from({ length: 5 }, () => process.consume("poll", "unreachable"));
    assert.deepEqual(
      (await Promise.all(calls)).map((verdict) => verdict?.isAllowed),
      [true, true, true, false, false],
    );
    assert.deepEqual(process.warnings, [
      "rate limits are applied per process because the database is unreachable",
    ]);
    process.setReachable(true);
    assert.equal((await process.consume("poll", "unreachable"))?.remaining, 2);
  });

  test("leave no rows of subjects that do not call again", async () => {
    await openProcess().consume("poll", "once");
    await age(180);
    await openProcess().consume("poll", "recent");
    await deleteFullBuckets(db);
    const { rows } = (await db.execute(sql`select name from rate_buckets`)) as unknown as { rows: unknown[] };
    assert.deepEqual(rows, [{ name: "poll/recent" }]);
  });
});
