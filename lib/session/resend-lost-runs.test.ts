import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { eq } from "drizzle-orm";
import type { Database } from "#db/client.ts";
import { outbox, requests, runs, sessions } from "#db/schema/index.ts";
import { openTestDatabase } from "#db/testing.ts";
import { requestRun } from "./jobs.ts";
import { noteRunsPlayed } from "./lost-run-store.ts";
import { newId } from "./new-id.ts";
import { resendLostRuns } from "./resend-lost-runs.ts";

let db: Database;
let closeDatabase: () => Promise<void>;
before(async () => {
  ({ db, close: closeDatabase } = await openTestDatabase());
});
after(() => closeDatabase());

const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000);
const resend = async (now: Date) => (await resendLostRuns(db, now)).map(({ id }) => id);

/** A session whose first request has a run in this state, and `waiting` more requests behind it. */
async function seed(fields: Partial<typeof runs.$inferInsert>, waiting = 0): Promise<string[]> {
  const sessionId = newId("ses");
  await db.insert(sessions).values({
    ...{ id: sessionId, ownerId: "owner", title: "a session", source: "api", bodyHash: "hash" },
    ...{ targetPageUrls: [], tools: { include: [], exclude: [], externalTurnExclude: [] }, toolset: [] },
    ...{ mcpServers: {}, capabilities: { browser: true, sandbox: true }, subAgents: false },
    ...{ maxLiveChildren: 4, maxLiveBrowsers: 4 },
  });
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
  // Its job was sent; those behind it get theirs when it ends.
  const [first = ""] = ids;
  const job = requestRun({ id: first, sessionId, generation: 1 });
  await db.insert(outbox).values({ ...job, sentAt: new Date() });
  return ids;
}

test("a run that nobody has in hand is asked for again, in its turn and with a new generation", async () => {
  const [pending] = await seed({ state: "pending" }, 2);
  const [running] = await seed({ state: "running", epoch: 1, startedAt: new Date() }, 1);
  assert.deepEqual(await resend(minutesFromNow(9)), []);
  const jobs = await resend(minutesFromNow(11));
  assert.deepEqual(jobs.sort(), [`${pending}:2`, `${running}:2`].sort());
  assert.deepEqual(await resend(minutesFromNow(11)), [], "what waits in the outbox is not lost");
  const [row] = await db
    .select()
    .from(runs)
    .where(eq(runs.id, running ?? ""));
  assert.equal(row?.generation, 2);
  await db.delete(sessions);
  await db.delete(outbox);
});

test("a run that is being played is left alone, however long that takes", async () => {
  const [played] = await seed({ state: "running", epoch: 1, startedAt: new Date() });
  await noteRunsPlayed(db, [played ?? ""], minutesFromNow(60));
  assert.deepEqual(await resend(minutesFromNow(69)), []);
  assert.deepEqual(await resend(minutesFromNow(71)), [`${played}:2`]);
  await db.delete(sessions);
  await db.delete(outbox);
});

test("a retry that waits for its time, a job that was not sent and a run that has ended are left alone", async () => {
  await seed({ attempt: 2, notBefore: minutesFromNow(55) });
  await seed({ state: "succeeded", endedAt: new Date() });
  const [unsent] = await seed({ state: "pending" });
  await db
    .update(outbox)
    .set({ sentAt: null })
    .where(eq(outbox.id, `${unsent}:1`));
  assert.deepEqual(await resend(minutesFromNow(60)), []);
});
