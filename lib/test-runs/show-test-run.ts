import type { TestRun } from "#lib/events/event.ts";
import type { TestRunRow } from "./test-run-store.ts";

/** Converts a row to the form that test runs have in the API and in events. */
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
