import type { TestResult } from "./view-types.ts";

export type TestStatus = TestResult["status"];
export type TestTarget = TestResult["target"];

/** The statuses of a test. Those that need attention come first. */
export const TEST_STATUSES = ["failed", "flaky", "skipped", "passed"] as const satisfies TestStatus[];

/** A test with its results: one result, or one result each for control and variant. */
export type TestGroup = {
  /** Unique in its test run. */
  key: string;
  line: number;
  titles: string[];
  /** The result for the control comes first. */
  results: TestResult[];
};

/** The tests of a file. */
export type TestFile = { file: string; tests: TestGroup[] };

/**
 * Groups results by file and test. Failed tests come first, then flaky tests; files are sorted by their worst test. All
 * other files and tests keep the order of the test run.
 */
export function groupTestResults(results: readonly TestResult[]): TestFile[] {
  const files = new Map<string, Map<string, TestGroup>>();
  const copies = new Map<string, number>();
  for (const result of results) {
    const { file, line, titles, target } = result;
    const name = JSON.stringify([file, line, titles]);
    // A report may contain two results of one test for the same target. The second result becomes a separate test.
    const copy = copies.get(`${target} ${name}`) ?? 0;
    copies.set(`${target} ${name}`, copy + 1);
    const key = `${copy} ${name}`;
    const tests = files.get(file) ?? new Map<string, TestGroup>();
    const results = [...(tests.get(key)?.results ?? []), result];
    tests.set(key, { key, line, titles, results: results.toSorted(byTarget) });
    files.set(file, tests);
  }
  return [...files]
    .map(([file, tests]) => ({ file, tests: [...tests.values()].toSorted(byRank) }))
    .toSorted((one, other) => rankOfFile(one) - rankOfFile(other));
}

const byTarget = (one: TestResult, other: TestResult): number => one.target.localeCompare(other.target);

/**
 * Failed and flaky tests get lower ranks, so that they come first. All other tests have the same rank and keep their
 * order.
 */
const rankOf = ({ results }: TestGroup): number =>
  Math.min(2, ...results.map(({ status }) => TEST_STATUSES.indexOf(status)));

const byRank = (one: TestGroup, other: TestGroup): number => rankOf(one) - rankOf(other);

const rankOfFile = ({ tests }: TestFile): number => Math.min(...tests.map(rankOf));

/** Filters tests by the status of their results; null keeps all tests. Files without matching tests are omitted. */
export function filterTests(files: readonly TestFile[], only: TestStatus | null): TestFile[] {
  if (only === null) return [...files];
  return files.flatMap(({ file, tests }) => {
    const found = tests.filter(({ results }) => results.some(({ status }) => status === only));
    return found.length === 0 ? [] : [{ file, tests: found }];
  });
}

/** Counts the tests of all files. */
export const countTests = (files: readonly TestFile[]): number =>
  files.reduce((sum, { tests }) => sum + tests.length, 0);
