import type { TestCounts } from "#db/schema/index.ts";
import type { TestRunStatus } from "#db/schema/unions.ts";
import type { CommandResult } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { countTests, type ReportedTest, readReport } from "./read-report.ts";
import { REPORT_PATH, TESTS_MAX } from "./runner-program.ts";
import type { TestRunRow } from "./test-run-store.ts";
import type { TestFolder } from "./test-runs-deps.ts";

const REPORT_BYTES_MAX = 8 * 2 ** 20;
const REFUSALS_SHOWN = 5;
const REFUSAL_CHARS_MAX = 300;
const PROBLEM_CHARS_MAX = 10_000;
const OUTPUT_CHARS_SHOWN = 2_000;

export const CANCELLED = "The test run was cancelled.";

/** What the service knows about a test run whose runner has ended. */
type EndedRun = {
  input: TestRunRow["input"];
  /** Hosts that the proxy refused or could not reach, each with the reason. */
  refusals: { host: string; reason: string }[];
  isCancelled: boolean;
};

/** The outcome of a test run, with its reported tests. */
type ReportedEnd = {
  status: TestRunStatus;
  /**
   * Sentences, one per line, about problems of the test run, such as tests without a result. Null if there are no
   * problems.
   */
  problem: string | null;
  counts: TestCounts;
  tests: ReportedTest[];
};

/** Reads the runner's report and determines the outcome of the test run. */
export async function readEnd(
  folder: TestFolder,
  result: CommandResult,
  run: EndedRun,
): Promise<ReportedEnd> {
  const { bytes, totalBytes, whyUnread } = await readBytes(folder);
  const whyEnded = run.isCancelled ? "the test run was cancelled" : explainEnd(result);
  const report = readReport(Buffer.from(bytes).toString("utf8"), whyEnded);
  const { tests, total = tests.length } = report;
  const counts = countTests(tests, Math.max(total, tests.length));
  const problems = [
    ...(whyUnread === undefined || run.isCancelled
      ? []
      : [`The report of the tests could not be read: ${whyUnread}.`]),
    ...(totalBytes > REPORT_BYTES_MAX
      ? [
          `The report of the tests is larger than ${REPORT_BYTES_MAX / 2 ** 20} MiB, and its end was not read.`,
        ]
      : explainIncomplete(report, total, { result, run, whyEnded })),
    ...report.errors,
  ];
  const hasPassed = problems.length === 0 && counts.failed === 0;
  const status: TestRunStatus = run.isCancelled ? "cancelled" : hasPassed ? "passed" : "failed";
  const refusals = run.refusals
    .slice(0, REFUSALS_SHOWN)
    .map(({ host, reason }) => beginningOf(`${host} was not reached: ${reason}`, REFUSAL_CHARS_MAX));
  const sentences = [...problems, ...refusals];
  return {
    status,
    problem: sentences.length === 0 ? null : beginningOf(sentences.join("\n"), PROBLEM_CHARS_MAX),
    counts,
    tests,
  };
}

/** Reads the report. If a test has removed the file or made it unreadable, returns no bytes and the reason. */
async function readBytes(folder: TestFolder) {
  try {
    return { ...(await folder.readFile(REPORT_PATH, REPORT_BYTES_MAX)), whyUnread: undefined };
  } catch (error) {
    if (!isWorkspaceError(error)) throw error;
    return { bytes: new Uint8Array(), totalBytes: 0, whyUnread: error.message };
  }
}

/**
 * Explains why the report is incomplete, for example because the test run was cancelled, ran out of time or had no
 * tests. Returns an empty list if the report is complete.
 */
function explainIncomplete(
  { isComplete, hasTimedOut, errors, tests }: ReturnType<typeof readReport>,
  total: number,
  { result, run, whyEnded }: { result: CommandResult; run: EndedRun; whyEnded: string | undefined },
): string[] {
  const { grep, timeoutSeconds } = run.input;
  if (run.isCancelled) return [CANCELLED];
  if (total > TESTS_MAX)
    return [
      `The files have ${total} tests, and a test run has at most ${TESTS_MAX}: run fewer files, or use grep.`,
    ];
  if (hasTimedOut)
    return [`The tests took longer than ${timeoutSeconds} s together; those that had not begun did not run.`];
  if (!isComplete)
    return [whyEnded === undefined ? describeCrash(result) : `The run was ended: ${whyEnded}.`];
  if (total === 0 && errors.length === 0)
    return [grep === null ? "The files have no tests." : "No test's title matches grep."];
  if (tests.length < total) return [`Of ${total} tests, ${total - tests.length} have no result.`];
  return [];
}

/**
 * Returns why the sandbox ended the runner: the tests took too long, or the reason that the sandbox wrote at the end of
 * the output. Undefined if the runner ended by itself.
 */
function explainEnd({ output, timedOut }: CommandResult): string | undefined {
  if (timedOut) return "the tests did not end in time, or one of them blocked the runner";
  return /\[ended: ([^\]]*)\]\s*$/.exec(output)?.[1];
}

function describeCrash({ output, exitCode, signal }: CommandResult): string {
  const how = exitCode === null ? `signal ${signal ?? "unknown"}` : `exit code ${exitCode}`;
  const lastOutput = output.trim().slice(-OUTPUT_CHARS_SHOWN);
  return `The test runner ended before its tests had (${how})${lastOutput === "" ? "." : `:\n${lastOutput}`}`;
}
