import { z } from "zod";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, waitFor } from "#lib/tools/tool.ts";
import { describeTestRun } from "../describe-test-run.ts";
import { findTestRun, listResults, readNewest } from "../test-run-store.ts";
import type { TestRunsDeps } from "../test-runs-deps.ts";

const DAY_S = 86_400;

/**
 * Creates the tool `wait_for_test_results`, which suspends the agent's turn until a test run has ended. Source:
 * `architecture.md`, Test runs.
 */
export const waitForTestResults = ({ db }: Pick<TestRunsDeps, "db">) =>
  defineTool({
    name: "wait_for_test_results",
    description:
      "Waits until a test run has ended and returns its results: for each failed test the error, the place in the test, its last steps and the evidence ids of its picture and trace. view_image shows a picture. Until the next run the files also lie in test-results/files: error-context.md of a failed test has the page's elements.",
    input: z.strictObject({
      testRunId: z.string().optional().describe("by default the newest"),
      timeoutSeconds: z
        .int()
        .min(1)
        .max(DAY_S)
        .optional()
        .describe("return after this time also without results, up to 10 s late"),
    }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ testRunId, timeoutSeconds }, call) {
      const { sessionId, waitedFor, waitEndedBy } = call;
      const id = testRunId ?? waitedFor?.[0];
      const row =
        id === undefined ? (await readNewest(db, sessionId)).newest : await findTestRun(db, sessionId, id);
      if (!row)
        return errorResult(
          id === undefined
            ? "wait_for_test_results: the session has no test run. Start one with run_tests."
            : `wait_for_test_results: testRunId: the session has no test run ${id}.`,
        );
      if (row.endedAt !== null)
        return quoteAsData("the tests", describeTestRun(row, await listResults(db, row.id)));
      if (waitEndedBy !== undefined) {
        const { passed, failed, flaky, skipped, total } = row.counts;
        const why =
          waitEndedBy === "message" ? "The wait was interrupted by a message." : "The time is over.";
        return `Test run ${row.id} is ${row.status}: ${passed + failed + flaky + skipped} of ${total} tests have ended. ${why}`;
      }
      return waitFor({
        kind: "tests",
        subjects: [row.id],
        deadlineAt: timeoutSeconds === undefined ? null : new Date(Date.now() + timeoutSeconds * 1_000),
      });
    },
  });
