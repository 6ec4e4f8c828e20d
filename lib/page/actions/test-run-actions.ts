import type { TestRun, TestRunResults } from "../state/view-types.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";

/** What a visitor can do with the test runs of the session. Source: `wire.md`, Test runs. */
export type TestRunActions = {
  readTestRun: (testRunId: string) => Promise<ActionOutcome<TestRunResults>>;
  /** Starts a new run with the files and options of an earlier run. Fails with 409 while another run has not ended. */
  rerunTests: (testRunId: string) => Promise<ActionOutcome<TestRun>>;
  /** Requests the end of a test run. The run ends a few seconds later. */
  cancelTests: (testRunId: string) => Promise<ActionOutcome<TestRun>>;
};

/** @param paths the paths of the session's test runs and of its actions. */
export function createTestRunActions(
  { tests, actions }: { tests: string; actions: string },
  fetcher: typeof fetch,
): TestRunActions {
  const act = async (path: string): Promise<ActionOutcome<TestRun>> =>
    pick(await callAction<{ testRun: TestRun }>(fetcher, "POST", `${actions}/tests/${path}`), "testRun");
  return {
    readTestRun: async (testRunId) =>
      pick(await callAction<{ testRun: TestRunResults }>(fetcher, "GET", `${tests}/${testRunId}`), "testRun"),
    rerunTests: (testRunId) => act(`${testRunId}/rerun`),
    cancelTests: (testRunId) => act(`${testRunId}/cancel`),
  };
}
