import { faultPoint } from "#lib/events/fault-point.ts";
import type { ModelFailure } from "#lib/model/failure.ts";
import { callModel, type ModelStep } from "./call-model.ts";
import type { Claim } from "./claim.ts";
import { type ClaimResult, claimRun, readClaim } from "./claim-run.ts";
import { closeRun, type RunEnd } from "./close-run.ts";
import {
  collectDeliverable,
  correctDeliverable,
  probeRun,
  readCollected,
  type SchemaChecker,
} from "./collect-deliverable.ts";
import { openRun } from "./open-run.ts";
import { findRecorded, type Recorded } from "./record-step.ts";
import { runTools } from "./run-tool.ts";
import { STOPPED_REASON } from "./stop-registry.ts";
import { removeQueued, stopRun, stopTurn } from "./stop-run.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** What the course of a turn depends on after a step: small values that the engine keeps. */
export type StepVerdict =
  | { kind: "called" }
  | { kind: "finished" }
  | { kind: "ready" }
  | { kind: "invalid" }
  | { kind: "stopped" }
  | { kind: "exhausted" }
  | { kind: "failed"; failure: ModelFailure };

/** The steps of a turn, one verb each, for the durable function that plays them. */
export type TurnService = {
  maxSteps: number;
  claim: (runId: string) => Promise<ClaimResult>;
  open: (claim: Claim) => Promise<{ isStopped: boolean }>;
  probe: (claim: Claim) => Promise<StepVerdict>;
  callModel: (claim: Claim, number: number) => Promise<StepVerdict>;
  runTools: (claim: Claim, number: number) => Promise<{ isStopped: boolean }>;
  collect: (claim: Claim) => Promise<StepVerdict>;
  correct: (claim: Claim) => Promise<StepVerdict>;
  close: (claim: Claim, verdict: StepVerdict) => Promise<{ played: true }>;
  /** Ends a run whose executor gave up, so that the session goes on. */
  abandon: (runId: string, reason: string) => Promise<void>;
  stopTurn: (sessionId: string) => Promise<string | undefined>;
  stopRun: (runId: string) => Promise<void>;
  /** Ends a run that has not started. @returns false when it has. */
  removeQueued: (runId: string) => Promise<boolean>;
};

/** @see TurnService */
export function createTurnService(turn: TurnDeps, checker: SchemaChecker): TurnService {
  return {
    maxSteps: turn.settings.maxSteps,
    async claim(runId) {
      const claimed = await claimRun(turn, runId, new Date());
      await faultPoint("K05");
      return claimed;
    },
    open: async (claim) => ({ isStopped: (await openRun(turn, claim)).isStopped }),
    probe: async (claim) => withStop(await probeRun(turn, claim)),
    async callModel(claim, number) {
      const { output, isStopped } = await callModel(turn, claim, number);
      return isStopped ? { kind: "stopped" } : judgeModelStep(output);
    },
    async runTools(claim, number) {
      const model = await findRecorded<ModelStep>(turn, claim, `model-${number}`);
      if (model?.output.kind !== "answered")
        throw new Error(`model call ${number} of ${claim.runId} has no answer`);
      if (model.isStopped) return { isStopped: true };
      return runTools(turn, claim, number, model.output.calls);
    },
    collect: async (claim) => withStop(await collectDeliverable(turn, claim, checker)),
    correct: async (claim) => withStop(await correctDeliverable(turn, claim, checker)),
    async close(claim, verdict) {
      await closeRun(turn, claim, await readEnd(turn, claim, verdict));
      return { played: true };
    },
    async abandon(runId, reason) {
      turn.logger.error({ runId, reason }, "a run was given up");
      const claim = await readClaim(turn, runId);
      const failure = {
        message: "The service could not play this turn; its log has the reason.",
        isRetryable: false,
      };
      if (claim) await closeRun(turn, claim, { outcome: "errored", failure }, "open");
    },
    stopTurn: (sessionId) => stopTurn(turn, sessionId),
    stopRun: (runId) => stopRun(turn, runId),
    removeQueued: (runId) => removeQueued(turn, runId),
  };
}

const withStop = <Output extends StepVerdict>({ output, isStopped }: Recorded<Output>): StepVerdict =>
  isStopped ? { kind: "stopped" } : output;

function judgeModelStep(output: ModelStep): StepVerdict {
  if (output.kind === "answered") return { kind: output.calls.length > 0 ? "called" : "finished" };
  return output.kind === "failed" ? { kind: "failed", failure: output.failure } : { kind: "stopped" };
}

async function readEnd(turn: TurnDeps, claim: Claim, verdict: StepVerdict): Promise<RunEnd> {
  switch (verdict.kind) {
    case "stopped":
      return { outcome: "cancelled", reason: STOPPED_REASON };
    case "exhausted":
      return {
        outcome: "errored",
        failure: { message: `step limit of ${turn.settings.maxSteps} reached`, isRetryable: false },
      };
    case "failed": {
      // A structured call that failed after the work is done is a failed deliverable of a run that succeeded.
      const wasCollecting = (await findRecorded(turn, claim, "collect")) !== undefined;
      if (!wasCollecting || verdict.failure.isRetryable)
        return { outcome: "errored", failure: verdict.failure };
      return { outcome: "succeeded", deliverable: await readCollected(turn, claim) };
    }
    default:
      return claim.isStructured
        ? { outcome: "succeeded", deliverable: await readCollected(turn, claim) }
        : { outcome: "succeeded" };
  }
}
