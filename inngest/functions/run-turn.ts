import { type Inngest, NonRetriableError } from "inngest";
import { isStaleClaim } from "#lib/turn/claim.ts";
import type { TurnService } from "#lib/turn/turn-service.ts";

const STALE = "the claim on this run is over";

/** Runs a step's work; a claim that was taken over ends this executor, and no retry brings it back. */
async function orStale<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw isStaleClaim(error) ? new NonRetriableError(STALE) : error;
  }
}

/**
 * Plays a run, step by step. Each step does its work once, whoever resumes it: it looks for what was recorded first.
 * Source: `architecture.md`, How a request flows, 2 to 5.
 */
export const createRunTurn = (client: Inngest, turn: TurnService) =>
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
    async ({ event, step: durable }) => {
      const step = {
        ...durable,
        run: <Value>(name: string, work: () => Promise<Value>) => durable.run(name, () => orStale(work)),
      };
      // Only `requestRun` makes these jobs.
      const { runId } = event.data as { runId: string };
      let claimed = await step.run("claim", () => turn.claim(runId));
      // The engine's clock may run ahead of ours, and wake it early.
      for (let wait = 1; claimed.status === "later"; wait++) {
        await step.sleepUntil(`wait-${wait}`, claimed.at);
        claimed = await step.run(`claim-after-wait-${wait}`, () => turn.claim(runId));
      }
      if (claimed.status !== "claimed") return { played: false };
      const { claim } = claimed;

      const opened = await step.run("open", () => turn.open(claim));
      if (opened.isStopped) return step.run("close", () => turn.close(claim, { kind: "stopped" }));
      if (claim.isStructured) {
        const probe = await step.run("probe", () => turn.probe(claim));
        if (probe.kind !== "ready") return step.run("close", () => turn.close(claim, probe));
      }
      for (let number = 1; number <= turn.maxSteps; number++) {
        const model = await step.run(`model-${number}`, () => turn.callModel(claim, number));
        if (model.kind !== "called") {
          if (model.kind !== "finished" || !claim.isStructured)
            return step.run("close", () => turn.close(claim, model));
          const collected = await step.run("collect", () => turn.collect(claim));
          if (collected.kind !== "invalid") return step.run("close", () => turn.close(claim, collected));
          const corrected = await step.run("correct", () => turn.correct(claim));
          return step.run("close", () => turn.close(claim, corrected));
        }
        const tools = await step.run(`tools-${number}`, () => turn.runTools(claim, number));
        if (tools.isStopped) return step.run("close", () => turn.close(claim, { kind: "stopped" }));
      }
      return step.run("close", () => turn.close(claim, { kind: "exhausted" }));
    },
  );
