import { TEST_STATUSES, type TestStatus, type TestTarget } from "../state/group-test-results.ts";
import type { TestAttachment, TestCounts, TestRun, ToolCallView } from "../state/view-types.ts";
import { formatDuration } from "./format.ts";
import type { Tone } from "./state-words.ts";

type Words = { tone: Tone; title: string };

/** The title and the tone of each status of a test run. */
export const TEST_RUN_WORDS: Record<TestRun["status"], Words> = {
  queued: { tone: "quiet", title: "Queued" },
  running: { tone: "busy", title: "Running" },
  passed: { tone: "good", title: "Passed" },
  failed: { tone: "bad", title: "Failed" },
  cancelled: { tone: "quiet", title: "Cancelled" },
  interrupted: { tone: "attention", title: "Interrupted" },
};

/** The title and the tone of each status of a test. */
export const TEST_WORDS: Record<TestStatus, Words> = {
  failed: { tone: "bad", title: "Failed" },
  flaky: { tone: "attention", title: "Flaky" },
  skipped: { tone: "quiet", title: "Skipped" },
  passed: { tone: "good", title: "Passed" },
};

export const TARGET_WORDS: Record<TestTarget, string> = { control: "Control", variant: "Variant" };

/** Counts the tests that have a result. */
export const countEnded = ({ passed, failed, flaky, skipped }: TestCounts): number =>
  passed + failed + flaky + skipped;

/**
 * Counts the results of a run: `1 failed, 3 passed`. For a run that ended early, also counts the tests that did not
 * run.
 */
export function describeCounts({ counts, endedAt }: Pick<TestRun, "counts" | "endedAt">): string {
  const parts = TEST_STATUSES.flatMap((status) =>
    counts[status] > 0 ? [`${counts[status]} ${TEST_WORDS[status].title.toLowerCase()}`] : [],
  );
  const missing = counts.total - countEnded(counts);
  if (endedAt !== null && missing > 0) parts.push(`${missing} did not run`);
  return parts.join(", ") || (endedAt === null ? "" : "no test ran");
}

/** Describes the progress of a run: `12 of 44`. Null before the number of tests is known. */
export const describeProgress = ({ counts }: Pick<TestRun, "counts">): string | null =>
  counts.total === 0 ? null : `${countEnded(counts)} of ${counts.total}`;

/** Describes what a run tested: `Control and variant main, revision 3`. */
export function describeTestTargets({ against, variant, revision }: TestRun): string {
  if (variant === null) return "Control";
  const name = `ariant ${variant}${revision === null ? "" : `, revision ${revision}`}`;
  return against.includes("control") ? `Control and v${name}` : `V${name}`;
}

export const describeStarter = ({ startedBy }: Pick<TestRun, "startedBy">): string =>
  startedBy === "agent" ? "started by the agent" : "started by a person";

/** Announces the end of a run: `Test run 2 failed: 1 failed, 3 passed.` */
export function describeEnd(run: TestRun): string {
  const auxiliary = run.status === "cancelled" || run.status === "interrupted" ? "was " : "";
  const state = TEST_RUN_WORDS[run.status].title.toLowerCase();
  return `Test run ${run.number} ${auxiliary}${state}: ${describeCounts(run)}.`;
}

/** Formats the duration of a test or step: `20 ms`, `1.3 s`. */
export const formatTestTime = (durationMs: number): string =>
  durationMs < 1_000 ? `${durationMs} ms` : formatDuration(durationMs);

const PICTURES = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/** Decides how the page shows a file of a test: as a picture, a trace or another file to download, or as missing. */
export function classifyAttachment({
  name,
  mediaType,
  evidenceId,
}: TestAttachment): "picture" | "trace" | "file" | "missing" {
  if (evidenceId === null) return "missing";
  if (PICTURES.includes(mediaType)) return "picture";
  return name === "trace" && mediaType === "application/zip" ? "trace" : "file";
}

/** Finds the id of the test run that a tool call started. Null if the call has not started a test run. */
export function findTestRunOfCall(call: ToolCallView | undefined): string | null {
  if (call?.toolName !== "run_tests" || call.state !== "succeeded") return null;
  return START_RESULT.exec(call.preview)?.groups?.id ?? null;
}

/** Matches the beginning of the result of `run_tests`. */
const START_RESULT = /^\{\s*"testRunId":\s*"(?<id>tst_[a-z2-7]{24})",\s*"number":\s*(?<number>\d+)/;

/**
 * Returns the file names in the input of `run_tests`. If there are none, returns the expression that filters tests by
 * title. Empty if the input has neither.
 */
export function describeTestsOfCall(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const files = "files" in input && Array.isArray(input.files) ? input.files : [];
  const fileNames = files.filter((file) => typeof file === "string").join(", ");
  return fileNames === "" && "grep" in input && typeof input.grep === "string" ? input.grep : fileNames;
}

/** Names the test run that a call of `run_tests` started: `test run 2`. Null if the result contains no number. */
export function describeStartOfCall(result: string): string | null {
  const number = START_RESULT.exec(result)?.groups?.number;
  return number === undefined ? null : `test run ${number}`;
}

/**
 * Matches the result of `wait_for_test_results` up to the summary line, which follows the `<data-…>` marker. Later
 * lines are ignored, because they contain texts of the tests.
 */
const WAIT_RESULT =
  /^[^\n]*\n<data-[0-9a-f]+>\nTest run tst_[a-z2-7]{24}: [^\n]*\. (\d+ [a-z]+(?:, \d+ [a-z]+)*)(?: of \d+)?\.\n/;

/**
 * Reads the counts in the result of `wait_for_test_results`: `1 passed, 1 failed`. Null if the result has no such
 * counts.
 */
export const describeResultsOfCall = (result: string): string | null => WAIT_RESULT.exec(result)?.[1] ?? null;
