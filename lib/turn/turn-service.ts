import { enqueueNextGeneration } from "#lib/session/store/job-store.ts";
import { abandonRun } from "./phases/abandon-run.ts";
import { removeQueued, type StoppedBy, stopRun, stopTurn } from "./phases/stop-run.ts";
import { type Played, playTurn } from "./play-turn.ts";
import { findPlayer, type PlayJob } from "./record/turn-store.ts";
import type { TurnDeps } from "./run/turn-deps.ts";
import type { SchemaChecker } from "./structured/schema-checker.ts";

/** The operations on turns, for the durable function that plays turns and for the API operations that stop turns. */
export type TurnService = {
  play: (job: PlayJob) => Promise<Played>;
  /** Whether the engine's function run `player` was the last one to claim the run. */
  isPlayer: (runId: string, player: string) => Promise<boolean>;
  /**
   * Enqueues a job for a new function run that continues the run. @param generation the generation of the current job.
   */
  handOver: (runId: string, generation: number) => Promise<void>;
  /** Ends a run that the engine gave up, so that the session's next run can start. */
  abandon: (job: PlayJob, reason: string) => Promise<void>;
  /** Stops the current turn. `by` is what its event says. @returns the id of the stopped run; undefined if none. */
  stopTurn: (sessionId: string, by: StoppedBy) => Promise<string | undefined>;
  /** Stops a run. Without `by`, the service itself stops it, and no event says who did. */
  stopRun: (runId: string, by?: StoppedBy) => Promise<void>;
  /** Ends a run that has not started. @returns false if the run has started or ended, or does not exist. */
  removeQueued: (runId: string) => Promise<boolean>;
};

/** @see TurnService */
export function createTurnService(deps: TurnDeps, checker: SchemaChecker): TurnService {
  return {
    play: (job) => playTurn(deps, checker, job),
    isPlayer: async (runId, player) => (await findPlayer(deps.db, runId)) === player,
    handOver: (runId, generation) => handOver(deps, runId, generation),
    abandon: (job, reason) => abandonRun(deps, job, reason),
    stopTurn: (sessionId, by) => stopTurn(deps, sessionId, by),
    stopRun: (runId, by) => stopRun(deps, runId, by),
    removeQueued: (runId) => removeQueued(deps, runId),
  };
}

/**
 * Enqueues a job for a new function run that continues the run, because an engine limits the steps of each function
 * run. Idempotent: a second call for the same generation enqueues nothing.
 */
export async function handOver(deps: TurnDeps, runId: string, generation: number): Promise<void> {
  const job = await enqueueNextGeneration(deps.db, runId, generation);
  if (job) deps.jobs.sendSoon([job]);
}
