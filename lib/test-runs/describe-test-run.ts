import type { TestAttachment, TestStep } from "#db/schema/index.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { TestResultRow, TestRunRow } from "./test-run-store.ts";

const FAILED_SHOWN = 20;
const PASSED_SHOWN = 50;
const ERROR_CHARS_SHOWN = 1_500;
const STEPS_SHOWN = 5;
/**
 * Maximum number of characters for the full descriptions of failed and flaky tests. For each further failed or flaky
 * test, only the beginning of its first error is shown.
 */
const DETAIL_CHARS_MAX = 20_000;
const BRIEF_CHARS_SHOWN = 300;

/**
 * Describes a test run for the model: first the outcome, then details of failed and flaky tests, then the other tests.
 */
export function describeTestRun(row: TestRunRow, results: readonly TestResultRow[]): string {
  const { id, status, counts, problem, input, revision } = row;
  const tested =
    input.variant === null || revision === null ? "" : `, revision ${revision} of variant ${input.variant}`;
  const parts = (["passed", "failed", "flaky", "skipped"] as const).flatMap((each) =>
    counts[each] > 0 ? [`${counts[each]} ${each}`] : [],
  );
  const unsuccessful = results.filter((result) => result.status === "failed" || result.status === "flaky");
  const others = results.filter((result) => !unsuccessful.includes(result));
  return [
    `Test run ${id}: ${status}${tested}. ${parts.join(", ") || "No test ran"}${counts.total > results.length ? ` of ${counts.total}` : ""}.`,
    ...(problem === null ? [] : [problem]),
    ...describeAllFailed(unsuccessful.slice(0, FAILED_SHOWN)),
    ...(unsuccessful.length > FAILED_SHOWN
      ? [`and ${unsuccessful.length - FAILED_SHOWN} more that failed`]
      : []),
    ...others
      .slice(0, PASSED_SHOWN)
      .map((result) => `${result.status}: ${nameOf(result)}${describeSkip(result)}`),
    ...(others.length > PASSED_SHOWN
      ? [`and ${others.length - PASSED_SHOWN} more that passed or were skipped`]
      : []),
  ].join("\n");
}

function describeAllFailed(results: TestResultRow[]): string[] {
  let charsLeft = DETAIL_CHARS_MAX;
  return results.map((result) => {
    const whole = describeFailed(result);
    charsLeft -= whole.length;
    if (charsLeft >= 0) return whole;
    return `${result.status}: ${nameOf(result)}\n${indent(beginningOf(result.errors[0] ?? "", BRIEF_CHARS_SHOWN))}`;
  });
}

const nameOf = ({ target, file, line, titles }: TestResultRow) =>
  `[${target}] ${file}:${line} ${titles.join(" › ")}`;

function describeSkip({ status, annotations }: TestResultRow): string {
  const why = annotations.find(({ type }) => type === "skip" || type === "fixme")?.description;
  return status === "skipped" && why !== undefined ? ` (${why})` : "";
}

function describeFailed(result: TestResultRow): string {
  const { status, errors, steps, attachments, attempts } = result;
  const tried = attempts > 1 ? ` (${attempts} attempts)` : "";
  const last = listLeaves(steps).slice(-STEPS_SHOWN);
  return [
    `${status}${tried}: ${nameOf(result)}`,
    ...errors.map((error) => indent(beginningOf(error, ERROR_CHARS_SHOWN))),
    ...(last.length === 0 ? [] : [indent(`last steps: ${last.join("; ")}`)]),
    ...attachments.map((attachment) => indent(describeAttachment(attachment))),
  ].join("\n");
}

const indent = (text: string) => text.replace(/^/gm, "  ");

const listLeaves = (steps: TestStep[]): string[] =>
  steps.flatMap(({ title, steps: inner }) => (inner?.length ? listLeaves(inner) : [title]));

const describeAttachment = ({ name, mediaType, evidenceId, problem }: TestAttachment) =>
  evidenceId === null ? `${name}: not kept, ${problem}` : `${name} (${mediaType}): evidence ${evidenceId}`;
