import type { TestRunInput } from "#db/schema/index.ts";
import type { TestRunStarter } from "#db/schema/unions.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { newId } from "#lib/session/new-id.ts";
import { enqueueJobs } from "#lib/session/store/job-store.ts";
import { requestTests } from "#lib/session/store/jobs.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { listVariantKeys } from "#lib/variant/variant-store.ts";
import { showTestRun } from "./show-test-run.ts";
import { findTestRunOfCall, insertTestRun, readNewest, type TestRunRow } from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";

/** Maximum number of test runs of a session. */
export const TEST_RUNS_MAX = 200;

/** What starts a test run: a tool call of the agent, or a person. */
type Starter = {
  sessionId: string;
  startedBy: TestRunStarter;
  requestId: string | null;
  runId: string | null;
  callId: string | null;
};

type Started =
  | { ok: true; row: TestRunRow }
  /** `open` is the id of the test run that has to end first, if there is one. */
  | { ok: false; problem: string; open?: string };

/**
 * Stores a test run and its job, and emits `tests.started`. If the same tool call is repeated, returns the test run
 * that the call has already started. Starts nothing and returns the problem if another test run of the session is open,
 * if the session was deleted or has had the maximum number of test runs, or if it lacks the variant to test.
 */
export async function startTestRun(
  deps: Pick<TestRunsDeps, "log" | "jobs">,
  starter: Starter,
  input: TestRunInput,
): Promise<Started> {
  const { sessionId, startedBy, requestId, runId, callId } = starter;
  const started = await deps.log.transact(
    sessionId,
    async (tx, emit): Promise<Started & { isNew?: true }> => {
      const session = await lockSession(tx, sessionId);
      if (!session) return { ok: false, problem: "the session was deleted" };
      const repeated =
        runId === null || callId === null ? undefined : await findTestRunOfCall(tx, { runId, callId });
      if (repeated) return { ok: true, row: repeated };
      const { newest, open } = await readNewest(tx, sessionId);
      if (open) return { ok: false, problem: `test run ${open.id} has not ended`, open: open.id };
      const number = (newest?.number ?? 0) + 1;
      if (number > TEST_RUNS_MAX)
        return {
          ok: false,
          problem: `the session has had ${TEST_RUNS_MAX} test runs, the most there can be`,
        };
      if (input.variant !== null) {
        const keys = await listVariantKeys(tx, sessionId);
        if (!keys.includes(input.variant))
          return {
            ok: false,
            problem: `variant: the session has no variant ${input.variant}; apply_variant makes one`,
          };
      }
      const row = await insertTestRun(tx, {
        id: newId("tst"),
        sessionId,
        number,
        startedBy,
        requestId,
        runId,
        callId,
        input,
      });
      await enqueueJobs(tx, [requestTests(row)]);
      emit({ kind: "tests.started", requestId, runId, source: session.source, testRun: showTestRun(row) });
      return { ok: true, row, isNew: true };
    },
  );
  if (started.ok && started.isNew) {
    await faultPoint("tests-stored");
    deps.jobs.sendSoon([requestTests(started.row)]);
  }
  return started;
}
