import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eq } from "drizzle-orm";
import { outbox, sessions, testRuns } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { newId } from "#lib/session/new-id.ts";
import { NO_COUNTS, requeueLostTests } from "./test-run-store.ts";

const { db, close } = await openTestDatabase();
after(close);

const HOUR_MS = 3_600_000;

test("a test run gets a new job if its last one is lost, but not while a job waits in the outbox", async () => {
  const [sessionId, id] = [newId("ses"), newId("tst")];
  await db.insert(sessions).values(sessionRow({ id: sessionId }));
  const input = {
    files: [],
    against: ["control" as const],
    variant: null,
    grep: null,
    retries: 0,
    baseUrl: null,
  };
  await db.insert(testRuns).values({
    id,
    sessionId,
    number: 1,
    startedBy: "agent",
    counts: NO_COUNTS,
    input: { ...input, viewport: "desktop", timeoutSeconds: 300 },
    requestedAt: new Date(Date.now() - HOUR_MS),
  });
  const backdate = () =>
    db
      .update(testRuns)
      .set({ requestedAt: new Date(Date.now() - HOUR_MS) })
      .where(eq(testRuns.id, id));
  const requeue = async () =>
    (await requeueLostTests(db, { name: "this process", isAlone: true }, 120_000, [])).map((job) => job.id);
  assert.deepEqual(await requeue(), [`${id}:1`]);
  // During an outage of the engine the job is not sent, however long it takes.
  await backdate();
  assert.deepEqual(await requeue(), []);
  await db.update(outbox).set({ sentAt: new Date() });
  assert.deepEqual(await requeue(), [`${id}:2`]);
});
