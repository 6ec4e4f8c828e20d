import type { Tool } from "#lib/tools/tool.ts";
import type { TestRunsDeps } from "../test-runs-deps.ts";
import { runTests } from "./run-tests.ts";
import { waitForTestResults } from "./wait-for-test-results.ts";

/** Creates the agent's tools for test runs. */
export const testTools = (deps: Pick<TestRunsDeps, "db" | "log" | "jobs" | "sandbox">): Tool[] => [
  runTests(deps),
  waitForTestResults(deps),
];
