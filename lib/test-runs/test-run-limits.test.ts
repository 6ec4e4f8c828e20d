import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eq } from "drizzle-orm";
import { sessions, testRuns } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import { createMemoryBus } from "#lib/events/bus/local-bus.ts";
import { createEventLog } from "#lib/events/event-log.ts";
import { newId } from "#lib/session/new-id.ts";
import { playTestRun } from "./play-test-run.ts";
import { startTestRun } from "./start-test-run.ts";
import { NO_COUNTS } from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";

const { db, close } = await openTestDatabase();
after(close);

const INPUT = {
  files: [],
  against: ["control" as const],
  variant: null,
  grep: null,
  retries: 0,
  baseUrl: null,
  viewport: "desktop" as const,
  timeoutSeconds: 300,
};

const deps: TestRunsDeps = {
  db,
  log: createEventLog(db, createMemoryBus()),
  logger: { warn() {}, debug() {} },
  sandbox: new Proxy({}, { get: () => assert.fail("no test is run") }) as TestRunsDeps["sandbox"],
  browser: { lease: () => assert.fail("no browser is needed") },
  evidence: { save: () => assert.fail("nothing is stored") },
  openTestPlace: () => assert.fail("no browser is needed"),
  jobs: { sendSoon() {} },
  owner: { name: "this process", isAlone: true },
};

/** Inserts a session with a test run. */
async function insertTestRun(
  columns: Pick<typeof testRuns.$inferInsert, "number" | "status" | "attempt" | "endedAt">,
) {
  const [sessionId, id] = [newId("ses"), newId("tst")];
  await db.insert(sessions).values(sessionRow({ id: sessionId }));
  await db
    .insert(testRuns)
    .values({ id, sessionId, startedBy: "agent", counts: NO_COUNTS, input: INPUT, ...columns });
  return { sessionId, id };
}

const start = (sessionId: string) =>
  startTestRun(deps, { sessionId, startedBy: "agent", requestId: null, runId: null, callId: null }, INPUT);

test("a session has at most 200 test runs", async () => {
  const last = await insertTestRun({ number: 199, status: "passed", attempt: 1, endedAt: new Date() });
  const started = await start(last.sessionId);
  assert.ok(started.ok);
  assert.equal(started.row.number, 200);
  await db
    .update(testRuns)
    .set({ status: "passed", endedAt: new Date() })
    .where(eq(testRuns.id, started.row.id));
  assert.deepEqual(await start(last.sessionId), {
    ok: false,
    problem: "the session has had 200 test runs, the most there can be",
  });
});

test("a test run is started twice at most", async () => {
  const { id } = await insertTestRun({ number: 1, status: "running", attempt: 2 });
  assert.deepEqual(await playTestRun(deps, id, new AbortController().signal), { status: "ended" });
  const [row] = await db.select().from(testRuns).where(eq(testRuns.id, id));
  assert.deepEqual(
    [row?.status, row?.problem],
    ["interrupted", "The service could not finish the tests in two attempts."],
  );
});
