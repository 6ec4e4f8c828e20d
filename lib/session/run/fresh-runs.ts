import type { RunOrigin } from "#db/schema/unions.ts";
import type { SessionRow } from "../session-store.ts";
import type { MessageRow } from "../transcript/transcript-store.ts";

/** The first run of a session, as stored at its creation. */
export type FreshRun = {
  runId: string;
  requestId: string;
  origin: RunOrigin;
  session: SessionRow;
  messages: MessageRow[];
};

/**
 * Caches first runs that this process has just stored, so that the executor in this process need not read them. The
 * cache may be stale: the executor's first write fails if anything has changed, and the executor then reads the rows.
 */
export type FreshRuns = {
  note: (run: FreshRun) => void;
  /** Removes and returns a cached run. */
  take: (runId: string) => FreshRun | undefined;
};

/**
 * Maximum number of cached runs. A run that another process plays stays in the cache, although this process never needs
 * it.
 */
const CACHED_MAX = 64;

/** Creates an empty cache. If it is full, a new run replaces the oldest one. */
export function createFreshRuns(): FreshRuns {
  const cached = new Map<string, FreshRun>();
  return {
    note(run) {
      cached.set(run.runId, run);
      const oldest = cached.size > CACHED_MAX ? cached.keys().next().value : undefined;
      if (oldest !== undefined) cached.delete(oldest);
    },
    take(runId) {
      const run = cached.get(runId);
      cached.delete(runId);
      return run;
    },
  };
}
