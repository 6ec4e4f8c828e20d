import type { DomainEvent, TestRun } from "./view-types.ts";

type TestRunEvent = Extract<DomainEvent, { kind: "tests.started" | "tests.progress" | "tests.completed" }>;

/** Applies an event about a test run. */
export function applyTestRunEvent(testRuns: TestRun[], event: TestRunEvent): TestRun[] {
  if (event.kind !== "tests.progress") return mergeTestRun(testRuns, event.testRun);
  const { testRunId, counts, timestamp } = event;
  return testRuns.map((run) =>
    run.id === testRunId && isUnderWay(run)
      ? { ...run, status: "running", startedAt: run.startedAt ?? timestamp, counts }
      : run,
  );
}

/**
 * Adds or replaces a test run and sorts all, newest first. An unfinished version of a test run never replaces the ended
 * version.
 */
export function mergeTestRun(testRuns: TestRun[], run: TestRun): TestRun[] {
  const existing = testRuns.find(({ id }) => id === run.id);
  if (existing && !isUnderWay(existing) && isUnderWay(run)) return testRuns;
  return [run, ...testRuns.filter(({ id }) => id !== run.id)].toSorted(
    (one, other) => other.number - one.number,
  );
}

/** Whether a test run has not ended. */
export const isUnderWay = ({ endedAt }: Pick<TestRun, "endedAt">): boolean => endedAt === null;
