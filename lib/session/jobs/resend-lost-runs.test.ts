import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { outbox, requests, runs, sessions } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { newId } from "../new-id.ts";
import { listUnsentJobs, recordRunsPlayed } from "../store/job-store.ts";
import { requestRun } from "../store/jobs.ts";
import { createPace } from "./pace.ts";
import { resendLostRuns } from "./resend-lost-runs.ts";

let db: Database;
let closeDatabase: () => Promise<void>;
before(async () => {
  ({ db, close: closeDatabase } = await openTestDatabase());
});
after(() => closeDatabase());

const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const LOST_AFTER_MS = 10 * 60_000;
const resend = async (now: Date) => (await resendLostRuns(db, LOST_AFTER_MS, now)).map(({ id }) => id);

/** Inserts a session whose first request has a run with these fields, and `waiting` queued requests. */
async function seed(fields: Partial<typeof runs.$inferInsert>, waiting = 0): Promise<string[]> {
  const sessionId = newId("ses");
  await db.insert(sessions).values(sessionRow({ id: sessionId }));
  const ids: string[] = [];
  for (let position = 1; position <= 1 + waiting; position++) {
    const [requestId, runId] = [newId("req"), newId("run")];
    await db
      .insert(requests)
      .values({ id: requestId, sessionId, position, mode: "queue", origin: "external", bodyHash: "hash" });
    const own = position === 1 ? fields : {};
    await db.insert(runs).values({ id: runId, sessionId, requestId, attempt: 1, origin: "external", ...own });
    ids.push(runId);
  }
  // The job of the first run was sent. Each later run gets its job when the run before it ends.
  const [first = ""] = ids;
  const job = requestRun({ id: first, sessionId, generation: 1 });
  await db.insert(outbox).values({ ...job, sentAt: new Date() });
  return ids;
}

test("a lost run is resent with a new generation, but only if it is next in its session", async () => {
  const [pending] = await seed({ state: "pending" }, 2);
  const [running] = await seed({ state: "running", epoch: 1, startedAt: new Date() }, 1);
  assert.deepEqual(await resend(minutesFromNow(9)), []);
  const jobs = await resend(minutesFromNow(11));
  assert.deepEqual(jobs.sort(), [`${pending}:2`, `${running}:2`].sort());
  assert.deepEqual(await resend(minutesFromNow(11)), [], "an unsent job in the outbox is not lost");
  const [row] = await db
    .select()
    .from(runs)
    .where(eq(runs.id, running ?? ""));
  assert.equal(row?.generation, 2);
  await db.delete(sessions);
  await db.delete(outbox);
});

test("a run is not resent while its player renews its job", async () => {
  const [played] = await seed({ state: "running", epoch: 1, startedAt: new Date() });
  await recordRunsPlayed(db, [played ?? ""], minutesFromNow(60));
  assert.deepEqual(await resend(minutesFromNow(69)), []);
  assert.deepEqual(await resend(minutesFromNow(71)), [`${played}:2`]);
  await db.delete(sessions);
  await db.delete(outbox);
});

test("a scheduled retry, an unsent job and an ended run are not resent", async () => {
  await seed({ attempt: 2, notBefore: minutesFromNow(55) });
  await seed({ state: "succeeded", endedAt: new Date() });
  const [unsent] = await seed({ state: "pending" });
  await db
    .update(outbox)
    .set({ sentAt: null })
    .where(eq(outbox.id, `${unsent}:1`));
  assert.deepEqual(await resend(minutesFromNow(60)), []);
  await db.delete(sessions);
  await db.delete(outbox);
});

test("the delay doubles with each resend until a player has the job", async () => {
  const [run = ""] = await seed({ state: "pending" });
  const sentAt = async (id: string, at: Date) =>
    db.update(outbox).set({ sentAt: at }).where(eq(outbox.id, id));
  assert.deepEqual(await resend(minutesFromNow(11)), [`${run}:2`]);
  await sentAt(`${run}:2`, minutesFromNow(11));
  assert.deepEqual(await resend(minutesFromNow(30)), []);
  assert.deepEqual(await resend(minutesFromNow(32)), [`${run}:3`]);
  await sentAt(`${run}:3`, minutesFromNow(32));
  assert.deepEqual(await resend(minutesFromNow(70)), []);
  await recordRunsPlayed(db, [run], minutesFromNow(80));
  assert.deepEqual(await resend(minutesFromNow(91)), [`${run}:4`]);
  await db.delete(sessions);
  await db.delete(outbox);
});

const DAYS_2 = 2 * 24 * 60;

test("after the clock was set back by two days, a lost run is resent after the usual time", async () => {
  const [run = ""] = await seed({ state: "running", epoch: 1, startedAt: new Date() });
  assert.deepEqual(await resend(minutesFromNow(-DAYS_2)), [], "the engine or a player may have its job");
  assert.deepEqual(await resend(minutesFromNow(-DAYS_2 + 9)), []);
  assert.deepEqual(await resend(minutesFromNow(-DAYS_2 + 11)), [`${run}:2`]);
  await db.delete(sessions);
  await db.delete(outbox);
});

test("a job that was written before the clock was set back is sent at once", async () => {
  await db.insert(outbox).values({ ...requestRun({ id: "run_a", sessionId: "ses_a", generation: 1 }) });
  const list = (now: Date) => listUnsentJobs(db, { ageMs: 2_000, limit: 10, now });
  for (const now of [minutesFromNow(-DAYS_2), minutesFromNow(DAYS_2), minutesFromNow(1)])
    assert.deepEqual(
      (await list(now)).map(({ id }) => id),
      ["run_a:1"],
    );
  await db.delete(outbox);
});

test("after a gap or a jump of the database's clock, the pace is not steady until all owners could renew", () => {
  let ownMs = 0;
  const pace = createPace(10, 40, () => ownMs);
  const look = (afterMs: number, databaseMs: number) => {
    ownMs += afterMs;
    return pace.isSteady(databaseMs);
  };
  assert.deepEqual([look(10, 1_000), look(10, 1_010)], [true, true]);
  assert.equal(look(10, 900_000), false, "the clock jumped forward");
  assert.deepEqual([look(20, 900_020), look(19, 900_039), look(1, 900_040)], [false, false, true]);
  assert.equal(look(10, 500), false, "the clock was set back");
  assert.deepEqual([look(20, 520), look(20, 540)], [false, true]);
  assert.equal(look(30, 570), false, "this process was suspended");
});
