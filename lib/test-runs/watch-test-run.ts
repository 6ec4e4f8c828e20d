import { setTimeout as sleep } from "node:timers/promises";
import type { TestCounts } from "#db/schema/index.ts";
import type { Workspace } from "#lib/sandbox/sandbox-service.ts";
import { findSession } from "#lib/session/session-store.ts";
import { readProgress } from "./read-progress.ts";
import { NO_COUNTS, noteCounts, type TestRunRow } from "./test-run-store.ts";
import type { TestRunsDeps } from "./test-runs-deps.ts";

const LOOK_EVERY_MS = 2_000;

/** Reason of an aborted signal: why a test run is ended from outside. */
export class RunEnded extends Error {
  readonly why: "cancelled" | "lost" | "shutdown";
  constructor(why: "cancelled" | "lost" | "shutdown") {
    super(why);
    this.name = "RunEnded";
    this.why = why;
  }
}

/**
 * Looks every 2 s whether a run goes on, and emits new counts. Aborts `stop` where the run was cancelled, removed, or taken over.
 *
 * @returns `start` is called when the tests are about to start in a workspace: the run is `running` from then on. `end` ends
 * the watch.
 */
export function watchTestRun(deps: TestRunsDeps, row: TestRunRow, stop: AbortController) {
  let workspace: Workspace | undefined;
  let told = JSON.stringify(NO_COUNTS);
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
    async start(opened: Workspace) {
      await noteProgress(deps, row, NO_COUNTS);
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
