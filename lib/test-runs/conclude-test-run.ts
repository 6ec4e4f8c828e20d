import { repeatOnDeadlock } from "#db/repeat-on-deadlock.ts";
import type { Job } from "#lib/session/store/jobs.ts";
import { lockSession } from "#lib/session/store/session-store.ts";
import { endWaits, sendWake } from "#lib/session/waiting/waiting.ts";
import { countTests } from "./read-report.ts";
import type { TestRunEnd } from "./run-in-workspace.ts";
import { showTestRun } from "./show-test-run.ts";
import { endTestRun, listTestWaits, type TestRunRow } from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";

/**
 * Ends a test run. In one transaction, stores the results, emits `tests.completed`, and ends the waits for the test
 * run. Then wakes the agent's turn if the turn was waiting. Does nothing if the test run has already ended or has
 * been taken over by another process, or if its session was removed.
 */
export async function concludeTestRun(
  deps: Pick<TestRunsDeps, "db" | "log" | "jobs">,
  row: TestRunRow,
  { status, problem, results, counts = countTests(results), revision = null }: TestRunEnd,
): Promise<void> {
  const wake = await repeatOnDeadlock(() =>
    deps.log.transact(row.sessionId, async (tx, emit) => {
      const session = await lockSession(tx, row.sessionId);
      const ended = session && (await endTestRun(tx, row, { status, problem, counts, revision }, results));
      if (!session || !ended) return [];
      const { requestId, runId } = ended;
      emit({
        kind: "tests.completed",
        requestId,
        runId,
        source: session.source,
        testRun: showTestRun(ended),
      });
      const jobs: Job[] = [];
      for (const wait of await listTestWaits(tx, ended))
        jobs.push(...(await endWaits(tx, emit, wait, "settled")));
      return jobs;
    }),
  );
  await sendWake(deps, wake);
}
