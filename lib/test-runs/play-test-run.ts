import { faultPoint } from "#lib/faults/fault-point.ts";
import { concludeTestRun } from "./conclude-test-run.ts";
import { CANCELLED } from "./read-end.ts";
import { runInWorkspace, type TestRunEnd } from "./run-in-workspace.ts";
import { claimTestRun, releaseTestRun, type TestRunRow } from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";
import { RunEnded, watchTestRun } from "./watch-test-run.ts";

/** Maximum number of attempts to execute a test run. A second attempt is made if the process of the first one died. */
const ATTEMPTS_MAX = 2;

/**
 * `ended`: this process has nothing left to do. `later`: another process has claimed the test run and may still be
 * alive, or the test run continues without a process and has to be continued.
 */
export type PlayedTests = { status: "ended" } | { status: "later" };

/**
 * Claims a test run for this process and executes it. Skips a test run while another process that has claimed it may
 * still be alive. After two attempts that did not end, ends the test run with the status `interrupted`.
 *
 * @param playMs after how many milliseconds the test run is released, so that the next play continues it; 0: never. This
 * is for functions, which cannot run for long, and whose tests outlive them.
 * @param shutdown fires when the service shuts down. The test run is then released, so that another process can start
 * it again.
 * @throws the reason of `shutdown`, and errors of the database.
 */
export async function playTestRun(
  deps: TestRunsDeps,
  testRunId: string,
  shutdown: AbortSignal,
  playMs = 0,
): Promise<PlayedTests> {
  shutdown.throwIfAborted();
  const claimed = await claimTestRun(deps.db, testRunId, deps.owner);
  if (claimed === "held") return { status: "later" };
  if (claimed === undefined) return { status: "ended" };
  const end =
    claimed.attempt > ATTEMPTS_MAX ? INTERRUPTED : await playClaimed(deps, claimed, shutdown, playMs);
  if (end === "paused") return { status: "later" };
  await faultPoint("tests-read");
  if (end) await concludeTestRun(deps, claimed, end);
  return { status: "ended" };
}

const INTERRUPTED: TestRunEnd = {
  status: "interrupted",
  problem: "The service could not finish the tests in two attempts.",
  results: [],
};

/**
 * Executes a claimed test run.
 * @returns the outcome; `paused` if `playMs` is over; undefined if the test run was removed or taken over by another
 * process.
 * @throws the reason of `shutdown`, after the test run was released.
 */
async function playClaimed(
  deps: TestRunsDeps,
  row: TestRunRow,
  shutdown: AbortSignal,
  playMs: number,
): Promise<TestRunEnd | "paused" | undefined> {
  const stop = new AbortController();
  const onShutdown = () => stop.abort(new RunEnded("shutdown"));
  shutdown.addEventListener("abort", onShutdown, { once: true });
  const timer = playMs > 0 ? setTimeout(() => stop.abort(new RunEnded("paused")), playMs) : undefined;
  const watching = watchTestRun(deps, row, stop);
  try {
    const end = await runInWorkspace(deps, row, { signal: stop.signal, onStart: watching.start }).catch(
      (error: unknown): TestRunEnd => {
        // Has no effect if the test run was stopped for another reason.
        if (error instanceof RunEnded) stop.abort(error);
        else if (error !== stop.signal.reason) throw error;
        return { status: "cancelled", problem: CANCELLED, results: [] };
      },
    );
    const ended = stop.signal.reason;
    if (!(ended instanceof RunEnded) || ended.why === "cancelled") return end;
    if (ended.why === "lost") return undefined;
    // The tests may have ended the host that cannot be reached, so that attempt counts.
    await releaseTestRun(deps.db, row, { isCounted: ended.why === "unreachable" });
    if (ended.why === "shutdown") throw shutdown.reason;
    return "paused";
  } finally {
    clearTimeout(timer);
    shutdown.removeEventListener("abort", onShutdown);
    await watching.end();
  }
}
