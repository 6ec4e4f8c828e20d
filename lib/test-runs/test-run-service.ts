import type { Job } from "#lib/session/store/jobs.ts";
import { type PlayedTests, playTestRun } from "./play-test-run.ts";
import { requeueLostTests } from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";

/** Executes test runs in this process. */
type TestRunService = {
  play: (testRunId: string) => Promise<PlayedTests>;
  /**
   * Stores new jobs for open test runs that no process executes, if their last job is old.
   * @returns the jobs to send.
   */
  requeueLost: () => Promise<Job[]>;
  /** Stops and releases all test runs of this process, so that other processes can execute them. */
  interrupt: () => void;
};

const LOST_AFTER_MS = 120_000;

/** @see TestRunService @param playMs how long one play may take, see {@link playTestRun}. */
export function createTestRunService(deps: TestRunsDeps, playMs = 0): TestRunService {
  const shutdown = new AbortController();
  const playing = new Map<string, Promise<PlayedTests>>();
  return {
    play(testRunId) {
      // The job engine may deliver a job twice. The second delivery waits for the execution that the first one started.
      const existing = playing.get(testRunId);
      if (existing) return existing;
      const played = playTestRun(deps, testRunId, shutdown.signal, playMs).finally(() =>
        playing.delete(testRunId),
      );
      playing.set(testRunId, played);
      return played;
    },
    requeueLost: () => requeueLostTests(deps.db, deps.owner, LOST_AFTER_MS, [...playing.keys()]),
    interrupt: () => shutdown.abort(new Error("the service is shutting down")),
  };
}
