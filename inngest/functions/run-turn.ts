import { type Inngest, NonRetriableError, RetryAfterError } from "inngest";
import { isStaleClaim } from "#lib/turn/record/claim.ts";
import type { PlayJob } from "#lib/turn/record/turn-store.ts";
import type { TurnService } from "#lib/turn/turn-service.ts";
import { momentAfter } from "./moment-after.ts";

const STALE = "the claim on this run is over";
/**
 * Maximum number of plays. A play and the wait that can follow it are two steps, and an engine limits a function run to
 * 1,000 steps.
 */
const PLAYS_MAX = 450;
const STALE_RETRY_MS = 10_000;

/**
 * Plays a run until it ends or is parked. A step of the engine plays as much of the turn as its time allows. The turn
 * records its own steps in the database, so a repeated step of the engine continues after the last recorded step of the
 * turn. Source: `architecture.md`, How a request flows, 2 to 5.
 */
export const createRunTurn = (
  client: Inngest,
  turn: Player & Pick<TurnService, "handOver" | "abandon">,
  playsMax = PLAYS_MAX,
) =>
  client.createFunction(
    {
      id: "run-turn",
      triggers: { event: "turn/run.requested" },
      retries: 10,
      onFailure: async ({ event, error }) => {
        const { runId, generation } = event.data.event.data as { runId: string; generation: number };
        const job = { runId, generation, player: event.data.run_id };
        // The error `STALE` means that another function run, or another call of this one, has claimed the run. So the
        // run must not be ended here.
        if (error.message !== STALE) await turn.abandon(job, error.message);
      },
    },
    async ({ event, step, runId: functionRunId }) => {
      // The cast is safe because only `requestRun` creates these jobs.
      const { runId, generation } = event.data as { runId: string; generation: number };
      for (let number = 1; number <= playsMax; number++) {
        const played = await step.run(`play-${number}`, () =>
          play(turn, { runId, generation, player: functionRunId }),
        );
        if (played.status === "later") await step.sleepUntil(`wait-${number}`, momentAfter(played.delayMs));
        else if (played.status !== "paused") return played;
      }
      await step.run("hand-over", () => turn.handOver(runId, generation));
      return { status: "handed-over" };
    },
  );

type Player = Pick<TurnService, "play" | "isPlayer">;

/**
 * Plays the run, and decides whether a stale claim is retried. If another function run has claimed the run, that
 * function run continues it, so this one ends without a retry. If a duplicate call of this same function run has
 * claimed the run, no other function run would continue it, so this one retries later.
 */
async function play(turn: Player, job: PlayJob) {
  try {
    return await turn.play(job);
  } catch (error) {
    if (!isStaleClaim(error)) throw error;
    throw (await turn.isPlayer(job.runId, job.player))
      ? new RetryAfterError(STALE, STALE_RETRY_MS)
      : new NonRetriableError(STALE);
  }
}
