import { enqueueNextGeneration } from "#lib/session/outbox-store.ts";
import type { TurnDeps } from "./turn-deps.ts";

/**
 * Asks for the rest of a run to be played by a fresh function run, as an engine allows each only so many steps. Asking
 * twice is asking once.
 */
export async function handOver(turn: TurnDeps, runId: string, generation: number): Promise<void> {
  const job = await enqueueNextGeneration(turn.db, runId, generation);
  if (job) turn.jobs.sendSoon([job]);
}
