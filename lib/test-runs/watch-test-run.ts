import { setTimeout as sleep } from "node:timers/promises";
import type { TestCounts } from "#db/schema/index.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { readProgress } from "./read-progress.ts";
import { NO_COUNTS, storeCounts, type TestRunRow } from "./test-run-store.ts";
import type { TestFolder, TestRunsDeps } from "./test-runs-deps.ts";

const CHECK_INTERVAL_MS = 2_000;

type WhyEnded = "cancelled" | "lost" | "shutdown" | "paused" | "unreachable";

/** Why a test run ends in this process before its tests have ended; mostly the reason of an abort signal. */
export class RunEnded extends Error {
  readonly why: WhyEnded;
  constructor(why: WhyEnded) {
    super(why);
    this.name = "RunEnded";
    this.why = why;
  }
}

/**
 * Every 2 s, emits new counts and checks whether a test run must stop. Aborts `stop` if the test run or the agent's run
 * was cancelled, or if the test run has ended, was removed, or was taken over by another process.
 *
 * @returns `start`, which sets the test run to `running` and must be called just before the tests start, and `end`,
 * which ends the checks.
 */
export function watchTestRun(deps: TestRunsDeps, row: TestRunRow, stop: AbortController) {
  let folder: TestFolder | undefined;
  let lastEmitted = JSON.stringify(NO_COUNTS);
  const ending = new AbortController();
  const checkOnce = async () => {
    const counts = folder && (await readProgress(folder));
    const isNew = counts !== undefined && JSON.stringify(counts) !== lastEmitted;
    const state = await storeProgress(deps, row, isNew ? counts : undefined);
    if (isNew) lastEmitted = JSON.stringify(counts);
    if (state === "cancel") stop.abort(new RunEnded("cancelled"));
    if (state === "lost") stop.abort(new RunEnded("lost"));
  };
  const loop = async () => {
    while (!ending.signal.aborted) {
      // Errors are only logged, because a short outage of the database must not end the test run.
      await checkOnce().catch((error: unknown) =>
        deps.logger.warn({ err: error, testRunId: row.id }, "the progress of a test run was not stored"),
      );
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  const ended = loop();
  return {
    async start(opened: TestFolder) {
      await storeProgress(deps, row, NO_COUNTS);
      folder = opened;
    },
    async end() {
      ending.abort();
      await ended;
    },
  };
}

/**
 * If counts are given, stores them, and emits `tests.progress` unless the test run must stop.
 * @returns the result of `storeCounts`; `lost` if counts are given but the session was removed.
 */
async function storeProgress({ db, log }: TestRunsDeps, row: TestRunRow, counts: TestCounts | undefined) {
  if (!counts) return storeCounts(db, row, undefined);
  return log.transact(row.sessionId, async (tx, emit) => {
    const session = await findSession(tx, row.sessionId);
    const state = session ? await storeCounts(tx, row, counts) : "lost";
    const { requestId, runId, id: testRunId } = row;
    if (session && state === "continue")
      emit({ kind: "tests.progress", requestId, runId, source: session.source, testRunId, counts });
    return state;
  });
}
