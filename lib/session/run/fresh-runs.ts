import type { RunOrigin } from "#db/schema/unions.ts";
import type { SessionRow } from "../session-store.ts";
import type { MessageRow } from "../transcript/transcript-store.ts";

/** The first run of a session as its creation stored it. */
export type FreshRun = {
  runId: string;
  requestId: string;
  origin: RunOrigin;
  session: SessionRow;
  messages: MessageRow[];
};

/**
 * First runs that this process has just stored, for its executor, which then needs not read them again. Only a hint: the
 * executor's first write fails where anything has changed since, and the executor reads the rows then.
 */
export type FreshRuns = {
  note: (run: FreshRun) => void;
  /** @returns the run, once. */
  take: (runId: string) => FreshRun | undefined;
};

/** Jobs leave within milliseconds. More runs than this wait only where another process plays them. */
const KEPT_MAX = 64;

/** @see FreshRuns */
export function createFreshRuns(): FreshRuns {
  const kept = new Map<string, FreshRun>();
  return {
    note(run) {
      kept.set(run.runId, run);
      const oldest = kept.size > KEPT_MAX ? kept.keys().next().value : undefined;
      if (oldest !== undefined) kept.delete(oldest);
    },
    take(runId) {
      const run = kept.get(runId);
      kept.delete(runId);
      return run;
    },
  };
}
