import assert from "node:assert/strict";
import { after, test } from "node:test";
import { outbox } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { type Job, requestRun } from "../store/jobs.ts";
import { createJobSender } from "./job-sender.ts";

const { db, close } = await openTestDatabase();
after(close);

const DAY_MS = 24 * 3_600_000;

test("the sweep sends every job it can, and logs the jobs that cannot be sent; pruning deletes old jobs", async () => {
  const unsent = ["run_1", "run_2", "run_3"].map((id) =>
    requestRun({ id, sessionId: "ses_1", generation: 1 }),
  );
  const old = requestRun({ id: "run_0", sessionId: "ses_1", generation: 1 });
  await db.insert(outbox).values([...unsent, { ...old, sentAt: new Date(Date.now() - 2 * DAY_MS) }]);
  const warnings: unknown[] = [];
  const sent: string[] = [];
  const error = new Error("refused");
  const sender = createJobSender({
    db,
    async send(job: Job) {
      if (job.id === unsent[0]?.id) throw error;
      sent.push(job.id);
    },
    logger: { warn: (fields: unknown) => void warnings.push(fields) },
  });
  assert.equal(await sender.sweep({ ageMs: 0 }), 2);
  assert.deepEqual(sent.sort(), [unsent[1]?.id, unsent[2]?.id]);
  assert.deepEqual(warnings, [{ err: error, jobs: [unsent[0]?.id] }]);
  await sender.prune();
  const kept = await db.select({ id: outbox.id }).from(outbox);
  assert.deepEqual(kept.map(({ id }) => id).sort(), unsent.map(({ id }) => id).sort());
});

test("one sweep sends more jobs than a batch has, each once, and none while the engine cannot be reached", async () => {
  await db.delete(outbox);
  const ids = Array.from({ length: 250 }, (_, at) => `run_${at}`);
  await db.insert(outbox).values(ids.map((id) => requestRun({ id, sessionId: "ses_1", generation: 1 })));
  const sent: string[] = [];
  let canSend = false;
  const sender = createJobSender({
    db,
    canSend: () => canSend,
    send: async (job: Job) => void sent.push(job.id),
    logger: { warn: () => assert.fail("nothing failed") },
  });
  assert.equal(await sender.sweep({ ageMs: 0 }), 0);
  sender.sendSoon([requestRun({ id: "run_0", sessionId: "ses_1", generation: 1 })]);
  await new Promise((done) => setImmediate(done));
  assert.deepEqual(sent, []);
  canSend = true;
  assert.equal(await sender.sweep({ ageMs: 0 }), 250);
  assert.deepEqual([sent.length, new Set(sent).size], [250, 250]);
  assert.equal(await sender.sweep({ ageMs: 0 }), 0);
});
