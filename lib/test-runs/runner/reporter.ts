/**
 * Reports a test run as JSON lines: one for the start and one for the end of each test attempt, and a few for the whole
 * run. The service does not trust these lines, because tests can write to the same file.
 */
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import type {
  FullConfig,
  FullResult,
  Reporter,
  Suite,
  TestCase,
  TestError,
  TestResult,
  TestStep,
} from "@playwright/test/reporter";
import { type ReportedStep, type ReportLine, readSettings } from "./settings.ts";

const { reportPath, progressPath, testsMax, workspace } = readSettings();

const STEPS_MAX = 100;
const STEP_DEPTH_MAX = 4;
const TITLE_CHARS_MAX = 300;
const ERROR_CHARS_MAX = 4_000;
const ERRORS_MAX = 5;
const ATTACHMENTS_MAX = 20;
const OUTPUT_CHARS_MAX = 4_000;
/**
 * Maximum number of bytes for the complete lines of ended tests. Further lines are shortened, because the service reads
 * at most 8 MiB of the report.
 */
const DETAIL_BYTES_MAX = 3 * 2 ** 20;
const OUTCOMES = { expected: "passed", unexpected: "failed", flaky: "flaky", skipped: "skipped" } as const;
/** Categories of internal Playwright steps, which say nothing about the test. */
const HIDDEN_STEPS = ["fixture", "attach", "test.attach"];
const HOOK_STEPS = ["Before Hooks", "After Hooks", "Worker Cleanup"];

/** Cuts a text. Removes the first half of a character that the cut has split. This file can import nothing for that. */
const cut = (text: string, max: number) =>
  text.length > max ? `${text.slice(0, max).replace(/[\ud800-\udbff]$/, "")}…` : text;
const plain = (text: string, max: number) => cut(stripVTControlCharacters(text), max);
const pathOf = (path: string) => relative(workspace, path);
const wholeMs = (duration: number) => Math.max(0, Math.round(duration));
let detailBytesLeft = DETAIL_BYTES_MAX;

function write(line: ReportLine): void {
  appendFileSync(reportPath, `${JSON.stringify(line)}\n`);
}

/** Writes the line of an ended test. In a large report, omits steps, output and most errors, so that all tests fit. */
function writeEnd(line: ReportLine & { type: "end" }): void {
  detailBytesLeft -= Buffer.byteLength(JSON.stringify(line));
  if (detailBytesLeft > 0) {
    write(line);
    return;
  }
  const errors = line.errors.slice(0, 1).map((error) => cut(error, TITLE_CHARS_MAX));
  write({ ...line, steps: [], output: "", errors, annotations: line.annotations.slice(0, 1) });
}

function describeError({ message, value, snippet, location }: TestError): string {
  const place = location && `at ${pathOf(location.file)}:${location.line}:${location.column}`;
  const text = message ?? value ?? "an error without a message";
  return plain([text, snippet, place].filter(Boolean).join("\n"), ERROR_CHARS_MAX);
}

const describeSteps = (steps: TestStep[], depth = 1): ReportedStep[] =>
  steps
    .filter(({ category }) => !HIDDEN_STEPS.includes(category))
    .slice(0, STEPS_MAX)
    .map(({ title, subtitle, duration, error, steps: inner }) => {
      const innerSteps = depth < STEP_DEPTH_MAX ? describeSteps(inner, depth + 1) : [];
      return {
        // The subtitle names what the step acts on: a locator or a URL.
        title: plain(subtitle ? `${title} ${subtitle}` : title, TITLE_CHARS_MAX),
        durationMs: wholeMs(duration),
        ...(error && { error: plain(error.message ?? "failed", TITLE_CHARS_MAX) }),
        ...(innerSteps.length > 0 && { steps: innerSteps }),
      };
    })
    // Omits hooks that have neither steps nor an error.
    .filter(({ title, error, steps: inner }) => !HOOK_STEPS.includes(title) || error || inner);

/** Lists the files of an attempt. Attachments that Playwright keeps in memory are written to files first. */
const keepFiles = ({ id }: TestCase, { attachments, retry }: TestResult) =>
  attachments.slice(0, ATTACHMENTS_MAX).flatMap(({ name, contentType, path, body }, index) => {
    const filePath = path ?? `${workspace}/test-results/attached-${id}-${retry}-${index}`;
    if (path === undefined && body === undefined) return [];
    if (path === undefined && body) writeFileSync(filePath, body);
    return [{ name: plain(name, TITLE_CHARS_MAX), mediaType: contentType, path: pathOf(filePath) }];
  });

const identify = (test: TestCase) => {
  const [, target = "", , ...titles] = test.titlePath();
  return {
    id: test.id,
    target,
    file: pathOf(test.location.file),
    line: test.location.line,
    titles: titles.map((title) => plain(title, TITLE_CHARS_MAX)),
  };
};

export default class LineReporter implements Reporter {
  #counts = { total: 0, passed: 0, failed: 0, flaky: 0, skipped: 0 };

  onBegin(_config: FullConfig, suite: Suite): void {
    this.#counts.total = suite.allTests().length;
    write({ type: "begin", total: this.#counts.total });
    // If there are too many tests, ends the runner before it starts a browser.
    if (this.#counts.total > testsMax) process.exit(1);
    this.#writeProgress("");
  }

  onTestBegin(test: TestCase, { retry }: TestResult): void {
    const identity = identify(test);
    write({ type: "start", ...identity, attempt: retry + 1 });
    this.#writeProgress(identity.titles.join(" › "));
  }

  onTestEnd(test: TestCase, result: TestResult): void {
    const { status, retry, duration, errors, steps, stdout, stderr } = result;
    const outcome = OUTCOMES[test.outcome()];
    const hasFailed = status !== test.expectedStatus && status !== "skipped";
    writeEnd({
      type: "end",
      ...identify(test),
      attempt: retry + 1,
      status: outcome,
      hasFailed,
      durationMs: wholeMs(duration),
      errors: errors.slice(0, ERRORS_MAX).map(describeError),
      steps: describeSteps(steps),
      attachments: keepFiles(test, result),
      annotations: test.annotations.slice(0, ATTACHMENTS_MAX).map(({ type, description }) => ({
        type: plain(type, TITLE_CHARS_MAX),
        ...(description && { description: plain(description, TITLE_CHARS_MAX) }),
      })),
      output: plain([...stdout, ...stderr].map(String).join(""), OUTPUT_CHARS_MAX),
    });
    if (!hasFailed || retry >= test.retries) this.#counts[outcome] += 1;
    this.#writeProgress("");
  }

  onError(error: TestError): void {
    write({ type: "error", message: describeError(error) });
  }

  onEnd({ status }: FullResult): void {
    write({ type: "finish", status });
  }

  printsToStdio(): boolean {
    return false;
  }

  #writeProgress(current: string): void {
    writeFileSync(`${progressPath}.new`, JSON.stringify({ counts: this.#counts, current }));
    renameSync(`${progressPath}.new`, progressPath);
  }
}
