import type { TestCounts } from "#db/schema/index.ts";
import type { TestRunStatus } from "#db/schema/unions.ts";
import type { BrowserLease } from "#lib/browser/browser-service.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { CommandResult, TestProgram, Workspace } from "#lib/sandbox/sandbox-service.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { errorText } from "#lib/text/error-text.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import { findRevision } from "#lib/variant/variant-store.ts";
import { sendFiles, takeFilesBack } from "./copy-files.ts";
import { findTestFiles } from "./find-test-files.ts";
import { readEnd } from "./read-end.ts";
import { composeProgram, PROGRESS_PATH, REPORT_PATH, RUNNER_MARGIN_MS } from "./runner-program.ts";
import { createFileStore } from "./store-files.ts";
import type { TestResultRow, TestRunRow } from "./test-run-store.ts";
import type { TestFolder, TestRunsDeps } from "./test-runs-deps.ts";
import { RunEnded } from "./watch-test-run.ts";

/** The outcome of a test run, with the results of its tests. */
export type TestRunEnd = {
  status: TestRunStatus;
  /** Sentences, one per line, about problems of the test run. Null if there are no problems. */
  problem: string | null;
  results: Omit<TestResultRow, "testRunId">[];
  counts?: TestCounts;
  revision?: number | null;
};

/** Thrown when the tests cannot be started. The message becomes the problem of the test run. */
class CannotRun extends Error {}

/**
 * Waits for a browser, and runs the tests of a test run in the workspace of its session.
 *
 * @param onStart called just before the tests start.
 * @returns the outcome, also if the tests exceeded a limit or were cancelled.
 * @throws the reason of `signal` if it fires before the tests start. After the start, throws the reason only if the
 * service is shutting down, or if the test run was removed or taken over by another process. RunEnded if the connection
 * to the host with the browser has ended.
 */
export async function runInWorkspace(
  deps: TestRunsDeps,
  row: TestRunRow,
  { signal, onStart }: { signal: AbortSignal; onStart: (place: TestFolder) => Promise<void> },
): Promise<TestRunEnd> {
  try {
    const workspace = await deps.sandbox.open(row.sessionId);
    const { patterns, variant } = await prepare(deps, row, workspace);
    const lease = await leaseBrowser(deps, row, signal);
    try {
      const script = variant ? variantScript(variant.document, variant.variant) : null;
      const program = await composeProgram(row.input, lease, { patterns, script });
      const copy = lease.hostId === undefined ? undefined : deps.openTestPlace(lease.hostId, row.id);
      const place = copy ?? workspace;
      if (!(await place.hasTests?.(row.id, program.proxyPort)))
        await (copy ? sendFiles(workspace, copy, signal) : clearResults(workspace));
      await onStart(place);
      await faultPoint("tests-running");
      const result = await start(place, program, { ...row.input, id: row.id, signal });
      // Discards the results of a released or lost test run, because another attempt produces and stores results.
      if (signal.reason instanceof RunEnded && signal.reason.why !== "cancelled") throw signal.reason;
      const { tests, problem, ...end } = await readEnd(place, result, {
        input: row.input,
        refusals: await lease.listRefusals(),
        isCancelled: signal.aborted,
      });
      const results = await storeResults(deps, row, place, tests);
      const left = copy && (await takeFilesBack(copy, workspace));
      return {
        ...end,
        problem: [problem, left].filter((sentence) => sentence != null).join("\n") || null,
        results,
        revision: variant?.number ?? null,
      };
    } finally {
      await lease.release(survives(signal.reason));
    }
  } catch (error) {
    if (error instanceof LinkEndedError) throw new RunEnded("unreachable");
    if (!(error instanceof CannotRun) && !isWorkspaceError(error)) throw error;
    return { status: "failed", problem: asSentence(error.message), results: [] };
  }
}

async function prepare({ db }: TestRunsDeps, { sessionId, input }: TestRunRow, workspace: Workspace) {
  const found = await findTestFiles(workspace, input.files);
  if (!found.ok) throw new CannotRun(found.problem);
  const variant = input.variant === null ? undefined : await findRevision(db, sessionId, input.variant);
  if (input.variant !== null && !variant)
    throw new CannotRun(`the session has no variant ${input.variant} any more`);
  return { patterns: found.patterns, variant };
}

async function leaseBrowser(
  { browser }: TestRunsDeps,
  { id, sessionId }: TestRunRow,
  signal: AbortSignal,
): Promise<BrowserLease> {
  try {
    return await browser.lease(signal, { sessionId, id });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new CannotRun(errorText(error));
  }
}

/**
 * Empties the report and progress files of an earlier test run, so that they are not mistaken for the files of this
 * one.
 */
async function clearResults(workspace: Workspace): Promise<void> {
  await workspace.writeFile(REPORT_PATH, new Uint8Array());
  await workspace.writeFile(PROGRESS_PATH, new Uint8Array());
}

/** Whether tests continue after an abort with this reason, where they outlive the process: another one continues the test run. */
const survives = (reason: unknown): boolean =>
  reason instanceof RunEnded && (reason.why === "shutdown" || reason.why === "paused");

async function start(
  place: Pick<Workspace, "runTests">,
  program: TestProgram,
  { id, timeoutSeconds, signal }: { id: string; timeoutSeconds: number; signal: AbortSignal },
): Promise<CommandResult> {
  try {
    return await place.runTests(program, {
      id,
      timeoutMs: timeoutSeconds * 1_000 + RUNNER_MARGIN_MS,
      signal,
      survives,
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof LinkEndedError) throw error;
    throw new CannotRun(`the tests could not be started: ${errorText(error)}`);
  }
}

/** Saves the files of the tests as evidence. @returns the results as database rows. */
async function storeResults(
  deps: TestRunsDeps,
  { sessionId, runId }: TestRunRow,
  folder: TestFolder,
  tests: Awaited<ReturnType<typeof readEnd>>["tests"],
): Promise<TestRunEnd["results"]> {
  const storeFile = createFileStore({ ...deps, folder }, { sessionId, runId });
  const results: TestRunEnd["results"] = [];
  for (const [index, { files, ...test }] of tests.entries()) {
    const attachments = [];
    for (const file of files)
      attachments.push(await storeFile(file, `${test.titles.join(" › ")} (${test.target})`));
    results.push({ position: index + 1, ...test, attachments });
  }
  return results;
}

const asSentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
