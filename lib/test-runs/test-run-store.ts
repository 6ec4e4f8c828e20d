import { and, asc, desc, eq, inArray, isNull, notExists, notInArray, or, sql } from "drizzle-orm";
import type { Database, Executor, Transaction } from "#db/client.ts";
import { hasOwnerEnded, type ProcessOwner } from "#db/connection-name.ts";
import { milliseconds } from "#db/database-time.ts";
import {
  outbox,
  runs,
  type TestCounts,
  type TestRunInput,
  testResults,
  testRuns,
  waits,
} from "#db/schema/index.ts";
import type { TestRunStarter, TestRunStatus } from "#db/schema/unions.ts";
import { enqueueJobs } from "#lib/session/store/job-store.ts";
import { type Job, requestTests } from "#lib/session/store/jobs.ts";

export type TestRunRow = typeof testRuns.$inferSelect;
export type TestResultRow = typeof testResults.$inferSelect;

export const NO_COUNTS: TestCounts = { total: 0, passed: 0, failed: 0, flaky: 0, skipped: 0 };

const isOpen = inArray(testRuns.status, ["queued", "running"]);

/** Lists the test runs of a session, newest first. */
export function listTestRuns(
  db: Executor,
  sessionId: string,
  { before, limit }: { before?: number | undefined; limit: number },
): Promise<TestRunRow[]> {
  const isBefore = before === undefined ? undefined : sql`${testRuns.number} < ${before}`;
  return db
    .select()
    .from(testRuns)
    .where(and(eq(testRuns.sessionId, sessionId), isBefore))
    .orderBy(desc(testRuns.number))
    .limit(limit);
}

export async function findTestRun(
  db: Executor,
  sessionId: string,
  id: string,
): Promise<TestRunRow | undefined> {
  const [row] = await db
    .select()
    .from(testRuns)
    .where(and(eq(testRuns.id, id), eq(testRuns.sessionId, sessionId)));
  return row;
}

/** Finds the test run that a tool call has started. */
export async function findTestRunOfCall(
  db: Executor,
  { runId, callId }: { runId: string; callId: string },
): Promise<TestRunRow | undefined> {
  const [row] = await db
    .select()
    .from(testRuns)
    .where(and(eq(testRuns.runId, runId), eq(testRuns.callId, callId)));
  return row;
}

/** Reads the session's newest test run, and the test run that has not ended yet. Either may be undefined. */
export async function readNewest(
  db: Executor,
  sessionId: string,
): Promise<{ newest: TestRunRow | undefined; open: TestRunRow | undefined }> {
  const [newest] = await listTestRuns(db, sessionId, { limit: 1 });
  const [open] = await db
    .select()
    .from(testRuns)
    .where(and(eq(testRuns.sessionId, sessionId), isOpen))
    .limit(1);
  return { newest, open };
}

export async function insertTestRun(
  tx: Transaction,
  row: Pick<TestRunRow, "id" | "sessionId" | "number" | "requestId" | "runId" | "callId"> & {
    startedBy: TestRunStarter;
    input: TestRunInput;
  },
): Promise<TestRunRow> {
  const [inserted] = await tx
    .insert(testRuns)
    .values({ ...row, counts: NO_COUNTS })
    .returning();
  if (!inserted) throw new Error("the test run was not stored");
  return inserted;
}

/** Lists the results of a test run in the order of their positions. */
export const listResults = (db: Executor, testRunId: string): Promise<TestResultRow[]> =>
  db
    .select()
    .from(testResults)
    .where(eq(testResults.testRunId, testRunId))
    .orderBy(asc(testResults.position));

/**
 * Claims a test run for this process. Fails if another process has claimed the test run and may still be alive.
 *
 * @returns the row with the number of the new attempt; `held` if another process has claimed the test run; undefined if
 * the test run has ended or was removed.
 */
export async function claimTestRun(
  db: Database,
  id: string,
  self: ProcessOwner,
): Promise<TestRunRow | "held" | undefined> {
  const isFree = or(
    isNull(testRuns.owner),
    eq(testRuns.owner, self.name),
    hasOwnerEnded(self, testRuns.owner),
  );
  const [row] = await db
    .update(testRuns)
    .set({
      owner: self.name,
      attempt: sql`${testRuns.attempt} + 1`,
    })
    .where(and(eq(testRuns.id, id), isOpen, isFree))
    .returning();
  if (row) return row;
  const [held] = await db
    .select({ id: testRuns.id })
    .from(testRuns)
    .where(and(eq(testRuns.id, id), isOpen));
  return held && "held";
}

/** Releases a test run that this process cannot finish. @param isCounted whether the released attempt counts. */
export async function releaseTestRun(
  db: Database,
  { id, attempt }: TestRunRow,
  { isCounted = false } = {},
): Promise<void> {
  const released = isCounted ? {} : { attempt: sql`${testRuns.attempt} - 1` };
  await db
    .update(testRuns)
    .set({ status: "queued", owner: null, ...released })
    .where(and(eq(testRuns.id, id), eq(testRuns.attempt, attempt), isOpen));
}

/**
 * If counts are given, stores them and sets the status of the test run to `running`. Then reads whether the test run
 * must stop.
 *
 * @returns `cancel` if the test run or the agent's run was cancelled; `lost` if the test run has ended, was removed, or
 * was taken over by another process.
 */
export async function storeCounts(
  db: Executor,
  { id, attempt }: TestRunRow,
  counts: TestCounts | undefined,
): Promise<"continue" | "cancel" | "lost"> {
  const isMine = and(eq(testRuns.id, id), eq(testRuns.attempt, attempt), isOpen);
  const startedAt = sql`coalesce(${testRuns.startedAt}, now())`;
  if (counts) await db.update(testRuns).set({ status: "running", startedAt, counts }).where(isMine);
  const [row] = await db
    .select({
      isCancelled: sql<boolean>`${testRuns.cancelRequestedAt} is not null or exists (select 1 from ${runs} r
        where r.id = ${testRuns.runId} and (r.state = 'cancelled' or r.cancel_requested_at is not null))`,
    })
    .from(testRuns)
    .where(isMine);
  if (!row) return "lost";
  return row.isCancelled ? "cancel" : "continue";
}

/** Requests the cancellation of a test run. @returns false if it has ended or is not a test run of the session. */
export async function requestCancel(db: Executor, sessionId: string, id: string): Promise<boolean> {
  const found = await db
    .update(testRuns)
    .set({ cancelRequestedAt: sql`coalesce(${testRuns.cancelRequestedAt}, now())` })
    .where(and(eq(testRuns.id, id), eq(testRuns.sessionId, sessionId), isOpen))
    .returning({ id: testRuns.id });
  return found.length > 0;
}

/**
 * Ends this attempt of a test run and stores the results.
 * @returns the row; undefined if the attempt is no longer open.
 */
export async function endTestRun(
  tx: Transaction,
  { id, attempt }: TestRunRow,
  end: { status: TestRunStatus; problem: string | null; counts: TestCounts; revision: number | null },
  results: Omit<TestResultRow, "testRunId">[],
): Promise<TestRunRow | undefined> {
  const [row] = await tx
    .update(testRuns)
    .set({ ...end, owner: null, endedAt: sql`now()` })
    .where(and(eq(testRuns.id, id), eq(testRuns.attempt, attempt), isOpen))
    .returning();
  if (row && results.length > 0)
    for (let from = 0; from < results.length; from += ROWS_AT_ONCE)
      await tx
        .insert(testResults)
        .values(results.slice(from, from + ROWS_AT_ONCE).map((result) => ({ testRunId: id, ...result })));
  return row;
}

const ROWS_AT_ONCE = 100;

/** Lists the tool calls that are waiting for a test run. */
export const listTestWaits = (tx: Transaction, { id, sessionId }: TestRunRow) =>
  tx
    .select({ runId: waits.runId, callId: waits.callId })
    .from(waits)
    .where(
      and(
        eq(waits.sessionId, sessionId),
        eq(waits.kind, "tests"),
        isNull(waits.endedBy),
        sql`${waits.subjects} @> ${JSON.stringify([id])}::jsonb`,
      ),
    );

/**
 * Stores a new job for each open test run that no process executes, if the last job of the test run is old enough. The
 * job engine has lost this last job, has given it up, or has ended it because its process died. A job that is not sent
 * yet is not lost: the sweep of the outbox sends it.
 *
 * @param ageMs minimum age of the last job.
 * @param playing ids of the test runs that this process executes. A test run that this process has claimed, and that is
 * not in this list, counts as not executed, because the engine has given up its job.
 */
export function requeueLostTests(
  db: Database,
  self: ProcessOwner,
  ageMs: number,
  playing: readonly string[],
): Promise<Job[]> {
  const isGivenUp = and(eq(testRuns.owner, self.name), notInArray(testRuns.id, [...playing]));
  const isFree = or(isNull(testRuns.owner), hasOwnerEnded(self, testRuns.owner), isGivenUp);
  // A time in the future was written before the clock was set back.
  const isOld = sql`not ${testRuns.requestedAt} between now() - ${milliseconds(ageMs)} and now()`;
  const unsent = db
    .select({ id: outbox.id })
    .from(outbox)
    .where(and(isNull(outbox.sentAt), sql`${outbox.id} = ${testRuns.id} || ':' || ${testRuns.jobNumber}`));
  return db.transaction(async (tx) => {
    const lost = await tx
      .update(testRuns)
      .set({ jobNumber: sql`${testRuns.jobNumber} + 1`, requestedAt: sql`now()` })
      .where(and(isOpen, isFree, isOld, notExists(unsent)))
      .returning({ id: testRuns.id, jobNumber: testRuns.jobNumber });
    const jobs = lost.map(requestTests);
    await enqueueJobs(tx, jobs);
    return jobs;
  });
}
