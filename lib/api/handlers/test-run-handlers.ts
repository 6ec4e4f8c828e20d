import { findRootOf } from "#lib/session/store/session-tree-store.ts";
import { showTestRun } from "#lib/test-runs/show-test-run.ts";
import { startTestRun, TEST_RUNS_MAX } from "#lib/test-runs/start-test-run.ts";
import {
  findTestRun,
  listResults,
  listTestRuns as readTestRuns,
  requestCancel,
} from "#lib/test-runs/test-run-store.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** `GET …/tests`: lists the test runs of the session; for a sub-agent, the test runs of its root session. */
async function listTestRuns({ db }: ApiServices, { params }: CallOf<"listTestRuns">): Promise<Answer> {
  const rows = await readTestRuns(db, await findRootOf(db, params.sessionId), { limit: TEST_RUNS_MAX });
  return { ok: true, status: 200, body: { success: true, data: rows.map(showTestRun), nextCursor: null } };
}

/** `GET …/tests/:testRunId`: returns a test run of the session; for a sub-agent, a test run of its root session. */
async function readTestRun({ db }: ApiServices, { params }: CallOf<"readTestRun">): Promise<Answer> {
  const { testRunId } = params;
  const sessionId = await findRootOf(db, params.sessionId);
  const row = await findTestRun(db, sessionId, testRunId);
  if (!row) return fail("not_found", "no such test run");
  const results = (await listResults(db, testRunId)).map(
    ({ testRunId: _, position: __, ...result }) => result,
  );
  return {
    ok: true,
    status: 200,
    body: { success: true, testRun: { ...showTestRun(row), sessionId, results } },
  };
}

/** Starts a test run with the files and options of an earlier test run, against the newest revision of the variant. */
async function rerunTests({ db, testRuns }: ApiServices, { params }: CallOf<"rerunTests">): Promise<Answer> {
  const { sessionId, testRunId } = params;
  const row = await findTestRun(db, sessionId, testRunId);
  if (!row) return fail("not_found", "no such test run");
  const starter = { sessionId, startedBy: "person", requestId: null, runId: null, callId: null } as const;
  const started = await startTestRun(testRuns, starter, row.input);
  if (!started.ok) return fail("conflict", started.problem);
  return { ok: true, status: 201, body: { success: true, testRun: showTestRun(started.row) } };
}

/** Cancels a test run. The test run ends within a few seconds. */
async function cancelTests({ db }: ApiServices, { params }: CallOf<"cancelTests">): Promise<Answer> {
  const { sessionId, testRunId } = params;
  const row = await findTestRun(db, sessionId, testRunId);
  if (!row) return fail("not_found", "no such test run");
  if (!(await requestCancel(db, sessionId, testRunId))) return fail("conflict", "the test run has ended");
  return { ok: true, status: 200, body: { success: true, testRun: showTestRun(row) } };
}

export const testRunHandlers = {
  listTestRuns,
  readTestRun,
  rerunTests,
  cancelTests,
} satisfies Partial<Handlers>;
