import { type Inngest, NonRetriableError, RetryAfterError } from "inngest";
import { isStaleClaim } from "#lib/turn/record/claim.ts";
import type { PlayJob } from "#lib/turn/record/turn-store.ts";
import type { TurnService } from "#lib/turn/turn-service.ts";
import { momentAfter } from "./moment-after.ts";

const STALE = "the claim on this run is over";
/** Below the 1,000 steps that an engine allows a function run, with a wait beside each play. */
const PLAYS_MAX = 450;
const LOOK_AGAIN_MS = 10_000;

/**
 * Plays a run to its end. A step of the engine plays as much of the turn as its time allows; what lies between two of
 * the turn's own steps is in our rows, so that a step that is repeated goes on behind the last of them.
 * Source: `architecture.md`, How a request flows, 2 to 5.
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
        // The run is in the hands of whoever claimed it since.
        if (error.message !== STALE) await turn.abandon(job, error.message);
      },
    },
    async ({ event, step, runId: functionRunId }) => {
      // Only `requestRun` makes these jobs.
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
 * A claim that was taken over ends this function run, and no retry brings it back: the run goes on with the other one.
 * Where that is a call of this very function run (one that was delivered twice), nobody else would go on with what it
 * leaves: this one looks again when that has had its time.
 */
async function play(turn: Player, job: PlayJob) {
  try {
    return await turn.play(job);
  } catch (error) {
    if (!isStaleClaim(error)) throw error;
    throw (await turn.isPlayer(job.runId, job.player))
      ? new RetryAfterError(STALE, LOOK_AGAIN_MS)
      : new NonRetriableError(STALE);
  }
}
