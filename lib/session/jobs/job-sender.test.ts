import assert from "node:assert/strict";
import { after, test } from "node:test";
import { outbox } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { createJobSender } from "./job-sender.ts";
import { type Job, requestRun } from "./jobs.ts";

const { db, close } = await openTestDatabase();
after(close);

const DAY_MS = 24 * 3_600_000;

test("the sweep sends every job it can, deletes old jobs, and logs the jobs that cannot be sent", async () => {
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
  const kept = await db.select({ id: outbox.id }).from(outbox);
  assert.deepEqual(kept.map(({ id }) => id).sort(), unsent.map(({ id }) => id).sort());
});
