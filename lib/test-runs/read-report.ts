import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import type { TestCounts, TestStep } from "#db/schema/index.ts";
import { TEST_STATUSES, TEST_TARGETS } from "#db/schema/unions.ts";
import { storableText } from "#db/storable.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { ReportLine } from "./runner/settings.ts";
import { TESTS_MAX } from "./runner-program.ts";

/** A file that a test left in the workspace. */
export type ReportedFile = { name: string; mediaType: string; path: string };

/** A test with its result, as the runner reported them. */
export type ReportedTest = {
  target: (typeof TEST_TARGETS)[number];
  file: string;
  line: number;
  titles: string[];
  status: (typeof TEST_STATUSES)[number];
  durationMs: number;
  attempts: number;
  errors: string[];
  steps: TestStep[];
  files: ReportedFile[];
  annotations: { type: string; description?: string }[];
  output: string;
};

/** The content of a report. */
type Report = {
  /**
   * The number of tests that the runner found and that match `grep`. A test that runs against both targets counts
   * twice. Undefined if the runner ended before it had loaded the files.
   */
  total: number | undefined;
  tests: ReportedTest[];
  /** Errors outside of any test, such as the error of a file that could not be loaded. */
  errors: string[];
  /** Whether the runner reported that it had finished. */
  isComplete: boolean;
  /** Whether the runner stopped because the tests together exceeded the time limit. */
  hasTimedOut: boolean;
};

/**
 * Creates the schema of a text. The schema removes terminal control sequences. The reporter does so too, but a test can
 * forge lines of the report.
 */
const text = (max: number) =>
  z
    .string()
    .transform((value) =>
      stripVTControlCharacters(storableText(beginningOf(value, max))).replace(/[^\P{Cc}\n\t]/gu, ""),
    );
const DURATION_MS_MAX = 86_400_000;
const STEP_DEPTH_MAX = 4;
const milliseconds = z.number().min(0).max(DURATION_MS_MAX).transform(Math.round);
/** Creates the schema of a step with its inner steps. Steps that are nested deeper than `depth` are dropped. */
function makeStep(depth: number): z.ZodType<TestStep> {
  const flat = z.object({ title: text(400), durationMs: milliseconds, error: text(400).exactOptional() });
  if (depth === 1) return flat;
  const inner = z.array(makeStep(depth - 1)).max(100);
  return flat.extend({ steps: inner.exactOptional() });
}
const step = makeStep(STEP_DEPTH_MAX);
const TITLES_MAX = 20;
const identity = {
  id: z.string().max(200),
  target: z.enum(TEST_TARGETS),
  file: text(500),
  line: z.int().min(0).max(10_000_000),
  titles: z.array(text(400)).transform((titles) => titles.slice(-TITLES_MAX)),
  attempt: z.int().min(1).max(20),
};
/** Schema of a line of a report. Programs in the sandbox write the report, so a test can forge lines. */
const lineSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("begin"), total: z.int().min(0) }),
  z.object({ type: z.literal("start"), ...identity }),
  z.object({
    type: z.literal("end"),
    ...identity,
    status: z.enum(TEST_STATUSES),
    hasFailed: z.boolean(),
    durationMs: milliseconds,
    errors: z.array(text(4_100)).max(10),
    steps: z.array(step).max(100),
    attachments: z.array(z.object({ name: text(400), mediaType: text(100), path: text(1_000) })).max(20),
    annotations: z.array(z.object({ type: text(400), description: text(400).exactOptional() })).max(20),
    output: text(4_100),
  }),
  z.object({ type: z.literal("error"), message: text(4_100) }),
  z.object({ type: z.literal("finish"), status: z.string().max(50) }),
]) satisfies z.ZodType<ReportLine>;

const ERRORS_MAX = 10;
const FILES_PER_TEST_MAX = 20;

/**
 * Reads the report of a test run. Ignores invalid lines, and tests beyond the maximum number. A test that began but did
 * not end counts as failed.
 *
 * @param whyEnded why the service ended the test run, as a clause such as "the test run was cancelled".
 */
export function readReport(report: string, whyEnded: string | undefined): Report {
  const tests = new Map<string, ReportedTest & { isOver: boolean }>();
  const result: Report = {
    total: undefined,
    tests: [],
    errors: [],
    isComplete: false,
    hasTimedOut: false,
  };
  for (const written of report.split("\n")) {
    const line = parseLine(written);
    if (!line) continue;
    switch (line.type) {
      case "begin":
        result.total = line.total;
        break;
      case "error":
        if (result.errors.length < ERRORS_MAX) result.errors.push(line.message);
        break;
      case "finish":
        result.isComplete = true;
        result.hasTimedOut = line.status === "timedout";
        break;
      case "start":
      case "end":
        addToTest(tests, line);
    }
  }
  result.tests = [...tests.values()].map(({ isOver, ...test }) =>
    isOver ? test : { ...test, status: "failed", errors: [describeUnended(whyEnded)] },
  );
  return result;
}

type Line = z.output<typeof lineSchema>;

function parseLine(written: string): Line | undefined {
  if (written === "") return undefined;
  try {
    return lineSchema.safeParse(JSON.parse(written)).data;
  } catch {
    return undefined;
  }
}

/**
 * Adds an attempt to a test. The status is that of the last attempt; the errors are those of the last failed attempt.
 */
function addToTest(
  tests: Map<string, ReportedTest & { isOver: boolean }>,
  line: Extract<Line, { type: "start" | "end" }>,
): void {
  const { target, file, titles, attempt } = line;
  // The key contains the target, because a test has the same id for both targets.
  const key = `${target} ${line.id}`;
  const before = tests.get(key);
  if (!before && tests.size >= TESTS_MAX) return;
  const base = before ?? {
    target,
    file,
    line: line.line,
    titles,
    status: "failed" as const,
    durationMs: 0,
    attempts: 0,
    errors: [],
    steps: [],
    files: [],
    annotations: [],
    output: "",
    isOver: false,
  };
  if (line.type === "start") {
    tests.set(key, { ...base, attempts: Math.max(base.attempts, attempt), isOver: false });
    return;
  }
  tests.set(key, {
    ...base,
    status: line.status,
    durationMs: Math.min(base.durationMs + line.durationMs, DURATION_MS_MAX),
    attempts: Math.max(base.attempts, attempt),
    errors: line.hasFailed ? line.errors : base.errors,
    steps: line.steps,
    files: [...base.files, ...line.attachments].slice(0, FILES_PER_TEST_MAX),
    annotations: line.annotations,
    output: line.output,
    isOver: true,
  });
}

const describeUnended = (whyEnded: string | undefined): string =>
  whyEnded === undefined
    ? "The test did not end: the runner ended before it."
    : `The test had not ended when the run was ended: ${whyEnded}`;

/** Counts tests by their result. */
export function countTests(tests: readonly Pick<ReportedTest, "status">[], total = tests.length): TestCounts {
  const counts: TestCounts = { total, passed: 0, failed: 0, flaky: 0, skipped: 0 };
  for (const { status } of tests) counts[status] += 1;
  return counts;
}
