import type { TestResult } from "../state/view-types.ts";
import type { ActionOutcome } from "./call-action.ts";
import type { TestRunActions } from "./test-run-actions.ts";

/** Caches the results of test runs that the page has read. */
export type TestResultsCache = {
  /** Returns the results of an ended test run if they are cached. */
  peek: (testRunId: string) => TestResult[] | undefined;
  /** Returns the results of an ended test run. Reads them from the service if they are not cached. */
  read: (testRunId: string) => Promise<ActionOutcome<TestResult[]>>;
};

const TEST_RUNS_MAX = 10;

/**
 * Creates a cache of the results of ended test runs, which never change. Simultaneous reads share one call; a failed
 * read is not cached.
 */
export function createTestResultsCache(readTestRun: TestRunActions["readTestRun"]): TestResultsCache {
  const cached = new Map<string, TestResult[]>();
  const reading = new Map<string, Promise<ActionOutcome<TestResult[]>>>();

  async function readAndCache(id: string): Promise<ActionOutcome<TestResult[]>> {
    const outcome = await readTestRun(id);
    reading.delete(id);
    if (!outcome.isDone) return outcome;
    const { results } = outcome.answer;
    cached.set(id, results);
    const [oldest] = cached.keys();
    if (cached.size > TEST_RUNS_MAX && oldest !== undefined) cached.delete(oldest);
    return { isDone: true, answer: results };
  }

  return {
    peek: (id) => cached.get(id),
    async read(id) {
      const existing = cached.get(id);
      if (existing) return { isDone: true, answer: existing };
      const read = reading.get(id) ?? readAndCache(id);
      reading.set(id, read);
      return read;
    },
  };
}
