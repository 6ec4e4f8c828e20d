import type { RunOrigin } from "#db/schema/unions.ts";
import type { SessionRow } from "../store/session-store.ts";
import type { MessageRow } from "../store/transcript-store.ts";

/** The first run of a session, as stored at its creation. */
export type FreshRun = {
  runId: string;
  requestId: string;
  origin: RunOrigin;
  session: SessionRow;
  messages: MessageRow[];
};

/** Settles a run that is being stored. `reject` takes the error of a statement that may have stored the run or not. */
type Expectation = { resolve: (run: FreshRun | "absent") => void; reject: (error: unknown) => void };

/**
 * Caches first runs that this process has just stored, so that the executor in this process need not read them. The
 * cache may be stale: the executor's first write fails if anything has changed, and the executor then reads the rows.
 */
export type FreshRuns = {
  add: (run: FreshRun) => void;
  /**
   * Announces a run that is about to be stored, so that its executor can start before. `take` then waits until the run
   * is settled: stored, or `absent`, which means that nothing was stored.
   */
  expect: (runId: string) => Expectation;
  /**
   * Removes and returns a cached run; undefined if the run is unknown here.
   *
   * @throws the error that the expected run was rejected with.
   */
  consume: (runId: string) => Promise<FreshRun | "absent"> | FreshRun | undefined;
};

/**
 * Maximum number of cached runs. A run that another process plays stays in the cache, although this process never needs
 * it.
 */
const CACHED_MAX = 64;

/** Creates an empty cache. If it is full, a new run replaces the oldest one. */
export function createFreshRuns(): FreshRuns {
  const cached = new Map<string, FreshRun>();
  /** Never dropped before they are taken, because an executor must not look for a run that is still being stored. */
  const expected = new Map<string, Promise<FreshRun | "absent">>();
  return {
    add(run) {
      cached.set(run.runId, run);
      const oldest = cached.size > CACHED_MAX ? cached.keys().next().value : undefined;
      if (oldest !== undefined) cached.delete(oldest);
    },
    expect(runId) {
      const { promise, resolve, reject } = Promise.withResolvers<FreshRun | "absent">();
      // The executor may take the run later.
      promise.catch(() => {});
      expected.set(runId, promise);
      return { resolve, reject };
    },
    consume(runId) {
      const run = expected.get(runId) ?? cached.get(runId);
      expected.delete(runId);
      cached.delete(runId);
      return run;
    },
  };
}
