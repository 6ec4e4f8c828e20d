import { type Inngest, NonRetriableError } from "inngest";
import { isStaleClaim } from "#lib/turn/claim.ts";
import type { TurnService } from "#lib/turn/turn-service.ts";

const STALE = "the claim on this run is over";
/** Below the 1,000 steps that an engine allows a function run, with a wait beside each play. */
const PLAYS_MAX = 450;

/**
 * Plays a run to its end. A step of the engine plays as much of the turn as its time allows; what lies between two of
 * the turn's own steps is in our rows, so that a step that is repeated goes on behind the last of them.
 * Source: `architecture.md`, How a request flows, 2 to 5.
 */
export const createRunTurn = (
  client: Inngest,
  turn: Pick<TurnService, "play" | "handOver" | "abandon">,
  playsMax = PLAYS_MAX,
) =>
  client.createFunction(
    {
      id: "run-turn",
      triggers: { event: "turn/run.requested" },
      retries: 10,
      onFailure: async ({ event, error }) => {
        const { runId } = event.data.event.data as { runId: string };
        // A stale executor ends so; the run itself goes on with whoever claimed it since.
        if (error.message !== STALE) await turn.abandon(runId, error.message);
      },
    },
    async ({ event, step }) => {
      // Only `requestRun` makes these jobs.
      const { runId, generation } = event.data as { runId: string; generation: number };
      for (let number = 1; number <= playsMax; number++) {
        const played = await step.run(`play-${number}`, () => play(turn, runId, generation));
        if (played.status === "later") await step.sleepUntil(`wait-${number}`, played.at);
        else if (played.status !== "paused") return played;
      }
      await step.run("hand-over", () => turn.handOver(runId, generation));
      return { status: "handed-over" };
    },
  );

/** A claim that was taken over ends this executor, and no retry brings it back. */
async function play(turn: Pick<TurnService, "play">, runId: string, generation: number) {
  try {
    return await turn.play(runId, generation);
  } catch (error) {
    throw isStaleClaim(error) ? new NonRetriableError(STALE) : error;
  }
}
