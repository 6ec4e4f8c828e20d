import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { openTestDatabase } from "#db/testing.ts";
import { createManualClock, createTestProcess, isQuiet, until } from "#inngest/embedded/testing.ts";
import { createApplyRetention } from "./apply-retention.ts";

let database: Awaited<ReturnType<typeof openTestDatabase>>;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const MINUTE_MS = 60_000;

it("runs every hour in bounded batches, and continues after a failure with the failed batch", async () => {
  const start = Date.UTC(2026, 0, 1, 12, 10);
  const clock = createManualClock(start);
  const process = createTestProcess(database.db, { clock });
  const calls: string[] = [];
  const sessions = Array.from({ length: 60 }, (_, index) => ({ id: `ses_${index}`, ownerId: "owner" }));
  let failures = 1;
  let evidenceLeft = 2;
  const retention = {
    async findSessions() {
      calls.push("find");
      return sessions;
    },
    async removeSessions(batch: typeof sessions) {
      calls.push(`sessions ${batch[0]?.id} ${batch.length}`);
      if (batch[0]?.id === "ses_25" && failures-- > 0) throw new Error("the database is away");
      return batch.length;
    },
    async removeEvidence(after: { id: string } | null) {
      calls.push(`evidence ${after?.id}`);
      return --evidenceLeft > 0 ? { createdAt: "2026-01-01 00:00:00+00", id: "evd_1" } : null;
    },
    async removeDeliveries() {
      calls.push("deliveries");
      return false;
    },
  };
  await process.start([createApplyRetention(process.client, retention)]);
  assert.deepEqual(calls, [], "not at the start");
  const expected = [
    "find",
    "sessions ses_0 25",
    "sessions ses_25 25",
    "sessions ses_25 25",
    "sessions ses_50 10",
    "evidence undefined",
    "evidence evd_1",
    "deliveries",
  ];
  clock.advance(7 * MINUTE_MS);
  await until(async () => {
    // The retry waits until this clock is advanced.
    if (calls.length === 3) clock.advance(MINUTE_MS);
    return calls.length >= expected.length && (await isQuiet(database.db));
  }, "the run has ended");
  assert.deepEqual(calls, expected);
  await process.engine.stop({ graceMs: 1_000 });
});
