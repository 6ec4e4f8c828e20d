import type { TestRun } from "#lib/events/event.ts";
import type { TestRunRow } from "./test-run-store.ts";

/** Converts a test run to its form in the API and in events. */
export function showTestRun(row: TestRunRow): TestRun {
  const { id, number, status, startedBy, input, revision, counts, problem } = row;
  return {
    id,
    number,
    status,
    startedBy,
    ...input,
    revision,
    counts,
    problem,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    endedAt: row.endedAt?.toISOString() ?? null,
  };
}
