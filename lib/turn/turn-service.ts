import { enqueueNextGeneration } from "#lib/session/jobs/job-store.ts";
import { type Played, playTurn } from "./play-turn.ts";
import { findPlayer, type PlayJob } from "./record/turn-store.ts";
import { abandonRun } from "./run/abandon-run.ts";
import { removeQueued, stopRun, stopTurn } from "./run/stop-run.ts";
import type { SchemaChecker } from "./structured/collect-deliverable.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** Turns, as the durable function that plays them and the operations that steer them see them. */
export type TurnService = {
  play: (job: PlayJob) => Promise<Played>;
  /** Whether a run was claimed last by this function run of the engine. */
  isPlayer: (runId: string, player: string) => Promise<boolean>;
  /** Asks for the rest of a run to be played by a fresh function run. @param generation of the job at hand. */
  handOver: (runId: string, generation: number) => Promise<void>;
  /** Ends a run whose executor gave up, so that the session goes on. */
  abandon: (job: PlayJob, reason: string) => Promise<void>;
  stopTurn: (sessionId: string) => Promise<string | undefined>;
  stopRun: (runId: string) => Promise<void>;
  /** Ends a run that has not started. @returns false when it has. */
  removeQueued: (runId: string) => Promise<boolean>;
};

/** @see TurnService */
export function createTurnService(deps: TurnDeps, checker: SchemaChecker): TurnService {
  return {
    play: (job) => playTurn(deps, checker, job),
    isPlayer: async (runId, player) => (await findPlayer(deps.db, runId)) === player,
    handOver: (runId, generation) => handOver(deps, runId, generation),
    abandon: (job, reason) => abandonRun(deps, job, reason),
    stopTurn: (sessionId) => stopTurn(deps, sessionId),
    stopRun: (runId) => stopRun(deps, runId),
    removeQueued: (runId) => removeQueued(deps, runId),
  };
}

/**
 * Asks for the rest of a run to be played by a fresh function run, as an engine allows each only so many steps. Asking
 * twice is asking once.
 */
export async function handOver(deps: TurnDeps, runId: string, generation: number): Promise<void> {
  const job = await enqueueNextGeneration(deps.db, runId, generation);
  if (job) deps.jobs.sendSoon([job]);
}
