import { faultPoint } from "#lib/faults/fault-point.ts";
import { CANCELLED } from "./read-end.ts";
import { runInWorkspace, type TestRunEnd } from "./run-in-workspace.ts";
import { settleTestRun } from "./settle-test-run.ts";
import { claimTestRun, releaseTestRun, type TestRunRow } from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";
import { RunEnded, watchTestRun } from "./watch-test-run.ts";

/** How often a test run is played at most. It is played a second time if the process of the first attempt died. */
const ATTEMPTS_MAX = 2;

/** `later`: another process has claimed the run and may still be alive. */
export type PlayedTests = { status: "ended" } | { status: "later" };

/**
 * Claims a test run for this process and plays it to its end. A run that another process has claimed is skipped. A run
 * that did not end in two attempts is settled as interrupted.
 *
 * @param shutdown fires when the service shuts down. The run is then released, so that another process can start it again.
 * @throws the reason of `shutdown`, and errors of the database.
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
  const end = claimed.attempt > ATTEMPTS_MAX ? INTERRUPTED : await playClaimed(deps, claimed, shutdown);
  await faultPoint("tests-read");
  if (end) await settleTestRun(deps, claimed, end);
  return { status: "ended" };
}

const INTERRUPTED: TestRunEnd = {
  status: "interrupted",
  problem: "The service could not finish the tests in two attempts.",
  results: [],
};

/** @returns the outcome; undefined if the run was removed or another process took it over. @throws `shutdown`'s reason. */
async function playClaimed(
  deps: TestRunsDeps,
  row: TestRunRow,
  shutdown: AbortSignal,
): Promise<TestRunEnd | undefined> {
  const stop = new AbortController();
  const onShutdown = () => stop.abort(new RunEnded("shutdown"));
  shutdown.addEventListener("abort", onShutdown, { once: true });
  const watching = watchTestRun(deps, row, stop);
  try {
    const end = await runInWorkspace(deps, row, { signal: stop.signal, onStart: watching.start }).catch(
      (error: unknown): TestRunEnd => {
        if (error !== stop.signal.reason) throw error;
        return { status: "cancelled", problem: CANCELLED, results: [] };
      },
    );
    const ended = stop.signal.reason;
    if (!(ended instanceof RunEnded) || ended.why === "cancelled") return end;
    if (ended.why === "lost") return undefined;
    await releaseTestRun(deps.db, row);
    throw shutdown.reason;
  } finally {
    shutdown.removeEventListener("abort", onShutdown);
    await watching.end();
  }
}
