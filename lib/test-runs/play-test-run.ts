import { setTimeout as sleep } from "node:timers/promises";
import type { TestCounts } from "#db/schema/index.ts";
import type { TestRunStatus } from "#db/schema/unions.ts";
import type { BrowserLease } from "#lib/browser/browser-service.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import type { CommandResult, Workspace } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { findSession } from "#lib/session/session-store.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import { findRevision } from "#lib/variant/variant-store.ts";
import { findTestFiles } from "./find-test-files.ts";
import { createFileKeeper } from "./keep-files.ts";
import { readProgress } from "./read-progress.ts";
import { countTests, readReport } from "./read-report.ts";
import { composeProgram, PROGRESS_PATH, REPORT_PATH, RUNNER_MARGIN_MS, TESTS_MAX } from "./runner-program.ts";
import { settleTestRun } from "./settle-test-run.ts";
import {
  claimTestRun,
  noteCounts,
  releaseTestRun,
  type TestResultRow,
  type TestRunRow,
} from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";

/** A run whose process has gone is played once more. */
const ATTEMPTS_MAX = 2;
const LOOK_EVERY_MS = 2_000;
const REPORT_BYTES_MAX = 32 * 2 ** 20;

/** `later`: another process plays the run, or is believed to. */
export type PlayedTests = { status: "ended" } | { status: "later" };

/** Thrown by the signal of a run: why it is ended from outside. */
class RunEnded extends Error {
  readonly why: "cancelled" | "lost" | "shutdown";
  constructor(why: "cancelled" | "lost" | "shutdown") {
    super(why);
    this.name = "RunEnded";
    this.why = why;
  }
}

/**
 * Plays a test run to its end, in this process. A run that another process holds is left to it, and one whose process has gone
 * for the second time is settled as interrupted.
 *
 * @param shutdown fires when the service ends: the run is given back then, and the next process plays it from its beginning.
 */
export async function playTestRun(
  deps: TestRunsDeps,
  testRunId: string,
  shutdown: AbortSignal,
): Promise<PlayedTests> {
  shutdown.throwIfAborted();
  const claimed = await claimTestRun(deps.db, testRunId, deps.owner);
  if (claimed === "held") return { status: "later" };
  if (claimed === undefined) return { status: "ended" };
  if (claimed.attempt > ATTEMPTS_MAX) {
    const problem = "The service ended twice while the tests ran.";
    await settleTestRun(deps, claimed, { status: "interrupted", problem, results: [] });
    return { status: "ended" };
  }
  const stop = new AbortController();
  const onShutdown = () => stop.abort(new RunEnded("shutdown"));
  shutdown.addEventListener("abort", onShutdown, { once: true });
  try {
    const end = await playClaimed(deps, claimed, stop);
    await faultPoint("tests-read");
    await settleTestRun(deps, claimed, end);
  } catch (error) {
    if (!(error instanceof RunEnded)) throw error;
    if (error.why === "shutdown") {
      await releaseTestRun(deps.db, claimed);
      throw error;
    }
  } finally {
    shutdown.removeEventListener("abort", onShutdown);
  }
  return { status: "ended" };
}

/** How a run ended, with what its tests did. */
export type TestRunEnd = {
  status: TestRunStatus;
  problem: string | null;
  results: Omit<TestResultRow, "testRunId">[];
  counts?: TestCounts;
  revision?: number | null;
};

const failedWith = (problem: string): TestRunEnd => ({ status: "failed", problem, results: [] });

/** @throws RunEnded when the run is given back, or is no longer this process's. */
async function playClaimed(deps: TestRunsDeps, row: TestRunRow, stop: AbortController): Promise<TestRunEnd> {
  const watching = watch(deps, row, stop);
  try {
    return await playInWorkspace(deps, row, stop.signal, watching.look);
  } catch (error) {
    const { reason } = stop.signal;
    if (reason instanceof RunEnded) {
      if (reason.why === "cancelled") return { status: "cancelled", problem: CANCELLED, results: [] };
      throw reason;
    }
    if (isWorkspaceError(error)) return failedWith(asSentence(error.message));
    throw error;
  } finally {
    await watching.end();
  }
}

const CANCELLED = "The test run was cancelled.";

/** Looks every 2 s whether a run goes on, and tells its followers of new counts. */
function watch(deps: TestRunsDeps, row: TestRunRow, stop: AbortController) {
  let workspace: Workspace | undefined;
  let told = JSON.stringify(row.counts);
  const over = new AbortController();
  const lookOnce = async () => {
    const counts = workspace && (await readProgress(workspace));
    const isNew = counts !== undefined && JSON.stringify(counts) !== told;
    const state = await noteProgress(deps, row, isNew ? counts : undefined);
    if (isNew) told = JSON.stringify(counts);
    if (state === "cancel") stop.abort(new RunEnded("cancelled"));
    if (state === "lost") stop.abort(new RunEnded("lost"));
  };
  const loop = async () => {
    while (!over.signal.aborted) {
      // A database that is away for a moment ends no run.
      await lookOnce().catch((error: unknown) =>
        deps.logger.warn({ err: error, testRunId: row.id }, "the progress of a test run was not stored"),
      );
      await sleep(LOOK_EVERY_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const ended = loop();
  return {
    look: (opened: Workspace) => {
      workspace = opened;
    },
    async end() {
      over.abort();
      await ended;
    },
  };
}

/** Stores new counts with their `tests.progress`. @returns as `noteCounts`. */
async function noteProgress({ db, log }: TestRunsDeps, row: TestRunRow, counts: TestCounts | undefined) {
  if (!counts) return noteCounts(db, row, undefined);
  return log.transact(row.sessionId, async (tx, emit) => {
    const session = await findSession(tx, row.sessionId);
    const state = session ? await noteCounts(tx, row, counts) : "lost";
    const { requestId, runId, id: testRunId } = row;
    if (session && state === "go-on")
      emit({ kind: "tests.progress", requestId, runId, source: session.source, testRunId, counts });
    return state;
  });
}

async function playInWorkspace(
  deps: TestRunsDeps,
  row: TestRunRow,
  signal: AbortSignal,
  look: (workspace: Workspace) => void,
): Promise<TestRunEnd> {
  const { sessionId, input, id, runId } = row;
  const workspace = await deps.sandbox.open(sessionId);
  const found = await findTestFiles(workspace, input.files);
  if (!found.ok) return failedWith(found.problem);
  const variant = input.variant === null ? undefined : await findRevision(deps.db, sessionId, input.variant);
  if (input.variant !== null && !variant)
    return failedWith(`The session has no variant ${input.variant} any more.`);
  const lease = await leaseBrowser(deps, signal);
  if ("problem" in lease) return failedWith(lease.problem);
  try {
    const script = variant ? variantScript(variant.document, variant.variant) : null;
    const program = await composeProgram(input, lease, { patterns: found.patterns, script });
    await clearResults(workspace);
    look(workspace);
    await faultPoint("tests-running");
    const timeoutMs = input.timeoutSeconds * 1_000 + RUNNER_MARGIN_MS;
    const result = await workspace.runTests(program, { timeoutMs, signal });
    if (signal.aborted && signal.reason instanceof RunEnded && signal.reason.why !== "cancelled")
      throw signal.reason;
    const end = await readEnd(workspace, result, {
      input,
      refusals: lease.listRefusals(),
      isCancelled: signal.aborted,
    });
    const keep = createFileKeeper({ ...deps, workspace }, { sessionId, runId });
    const results: TestRunEnd["results"] = [];
    for (const [index, { files, ...test }] of end.tests.entries()) {
      const attachments = [];
      for (const file of files)
        attachments.push(await keep(file, `${test.titles.join(" › ")} (${test.target})`));
      results.push({ position: index + 1, ...test, attachments });
    }
    return { ...end, results, revision: variant?.number ?? null };
  } finally {
    await lease.release();
    deps.logger.debug({ testRunId: id }, "the browser place of a test run was given back");
  }
}

async function leaseBrowser(
  { browser }: Pick<TestRunsDeps, "browser">,
  signal: AbortSignal,
): Promise<BrowserLease | { problem: string }> {
  try {
    return await browser.lease(signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { problem: asSentence(error instanceof Error ? error.message : String(error)) };
  }
}

/** An earlier run's report must not be taken for this one's. */
async function clearResults(workspace: Workspace): Promise<void> {
  await workspace.writeFile(REPORT_PATH, new Uint8Array());
  await workspace.writeFile(PROGRESS_PATH, new Uint8Array());
}

const asSentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;

const REFUSALS_SHOWN = 5;
const OUTPUT_CHARS_SHOWN = 2_000;

/** Reads what the runner reported, and why it ended if that was not by itself. */
async function readEnd(
  workspace: Workspace,
  result: CommandResult,
  about: {
    input: TestRunRow["input"];
    refusals: { host: string; reason: string }[];
    isCancelled: boolean;
  },
): Promise<Omit<TestRunEnd, "results" | "revision"> & { tests: ReturnType<typeof readReport>["tests"] }> {
  const { bytes } = await workspace.readFile(REPORT_PATH, REPORT_BYTES_MAX);
  const whyEnded = about.isCancelled ? "the test run was cancelled" : explainEnd(result);
  const report = readReport(Buffer.from(bytes).toString("utf8"), whyEnded);
  const { tests, total = tests.length, errors, isComplete } = report;
  const counts = countTests(tests, Math.max(total, tests.length));
  const problems: string[] = [];
  if (about.isCancelled) problems.push(CANCELLED);
  else if (total > TESTS_MAX)
    problems.push(
      `The files have ${total} tests, and a test run has at most ${TESTS_MAX}: run fewer files, or use grep.`,
    );
  else if (report.hasTimedOut)
    problems.push(
      `The tests took longer than ${about.input.timeoutSeconds} s together; those that had not begun did not run.`,
    );
  else if (!isComplete)
    problems.push(whyEnded === undefined ? describeCrash(result) : `The run was ended: ${whyEnded}.`);
  else if (total === 0 && errors.length === 0)
    problems.push(about.input.grep === null ? "The files have no tests." : "No test's title matches grep.");
  problems.push(...errors);
  for (const { host, reason } of about.refusals.slice(0, REFUSALS_SHOWN))
    problems.push(`${host} was not reached: ${reason}`);
  const hasPassed = problems.length === about.refusals.slice(0, REFUSALS_SHOWN).length && counts.failed === 0;
  const status: TestRunStatus = about.isCancelled ? "cancelled" : hasPassed ? "passed" : "failed";
  return { status, problem: problems.length === 0 ? null : problems.join("\n"), counts, tests };
}

/** The note with which a limit ends a command, without its brackets; undefined where the runner ended by itself. */
function explainEnd({ output, timedOut }: CommandResult): string | undefined {
  if (timedOut) return "the tests did not end in time, or one of them blocked the runner";
  return /\[ended: ([^\]]*)\]\s*$/.exec(output)?.[1];
}

function describeCrash({ output, exitCode, signal }: CommandResult): string {
  const how = exitCode === null ? `signal ${signal ?? "unknown"}` : `exit code ${exitCode}`;
  const said = output.trim().slice(-OUTPUT_CHARS_SHOWN);
  return `The test runner ended before its tests had (${how})${said === "" ? "." : `:\n${said}`}`;
}
